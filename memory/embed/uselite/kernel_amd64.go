package uselite

import "golang.org/x/sys/cpu"

// fast says that the processor has what the assembly needs; tests turn it off.
var fast = cpu.X86.HasAVX2
