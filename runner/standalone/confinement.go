package standalone

import "github.com/flowrun/flowrun/runner/executor/command"

// Confinement says how the processes of agents with resources are bounded on this machine. whole is false where some of it is not.
func Confinement() (text string, whole bool) { return command.Confinement() }
