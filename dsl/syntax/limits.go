package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// Limits are the bounds of a file that whoever reads it may raise; a file has no say in them. A zero is the usual bound.
type Limits struct {
	File  int // bytes of a file
	Line  int // bytes of a line
	Token int // bytes of a heredoc or a comment
	Block int // bytes of a block, those of the blocks inside it not counted
	Depth int // brackets, braces and templates inside each other
}

// MaxRaised and MaxRaisedDepth bound what limits can be raised to: offsets have 31 bits, and a deeper nesting costs stack.
const (
	MaxRaised      = 1 << 30
	MaxRaisedDepth = 512
)

// Set raises (or lowers) a limit by words such as "line=1MiB", "depth=100".
func (l *Limits) Set(words string) error {
	name, size, ok := strings.Cut(words, "=")
	fields := map[string]*int{"file": &l.File, "line": &l.Line, "token": &l.Token, "block": &l.Block, "depth": &l.Depth}
	field := fields[name]
	if !ok || field == nil {
		return fmt.Errorf("a limit is file, line, token, block or depth, as in line=1MiB; %q is not one", words)
	}
	most, unit := MaxRaised, 1
	if name == "depth" {
		most = MaxRaisedDepth
	} else if number, found := strings.CutSuffix(size, "MiB"); found {
		size, unit = number, 1<<20
	} else if number, found := strings.CutSuffix(size, "KiB"); found {
		size, unit = number, 1<<10
	}
	n, err := strconv.Atoi(size)
	if err != nil || n < 1 || n > most/unit {
		return fmt.Errorf("the limit %s must be from 1 to %s, as in 100, 64KiB or 2MiB; %q is not", name, strings.TrimSuffix(bytesText(most), " bytes"), words)
	}
	*field = n * unit
	return nil
}

// usual puts the usual bounds where none is given.
func (l Limits) usual() Limits {
	for _, f := range []struct {
		field *int
		usual int
	}{{&l.File, MaxFileBytes}, {&l.Line, MaxLineBytes}, {&l.Token, MaxHeredocBytes}, {&l.Block, MaxBlockBytes}, {&l.Depth, MaxDepth}} {
		if *f.field == 0 {
			*f.field = f.usual
		}
	}
	return l
}

// FileBytes is how large a file may be.
func (l Limits) FileBytes() int { return l.usual().File }

// Parse is [Parse] with other limits.
func (l Limits) Parse(name string, data []byte) (*File, diag.List) {
	return parse(name, data, l.usual())
}

// bytesText writes a size in the largest unit that it is whole in.
func bytesText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return strconv.Itoa(n) + " bytes"
}

// raise says how a limit is raised, in a sentence that follows another.
func raise(name string) string {
	return fmt.Sprintf(" Raise the limit with the flag --limit %s=….", name)
}
