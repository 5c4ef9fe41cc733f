package app

import (
	"bytes"
	"strings"
	"testing"
)

// A line is printed once it has ended, or is too long to wait for; pieces of any size give the same lines.
func TestLinesOfATail(t *testing.T) {
	text := "one\n\ntwo" + strings.Repeat("x", maxOpenLine) + "\nthree\n"
	for _, size := range []int{1, 7, 1000, len(text)} {
		var out bytes.Buffer
		a := &app{Streams: Streams{Stdout: &out, Stderr: &out}}
		a.openTerminals()
		tail, f := &tail{a: a}, &flow{}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			tail.lines(f, []byte(rest[:n]), "n | ")
			rest = rest[n:]
			if len(f.open) >= maxOpenLine {
				t.Fatalf("%d bytes are held", len(f.open))
			}
		}
		have := out.String()
		if !strings.HasPrefix(have, "n | one\nn | \nn | two") || !strings.HasSuffix(have, "n | three\n") || strings.Count(have, "x") != maxOpenLine {
			t.Errorf("pieces of %d give %.60q… %.40q", size, have, have[len(have)-40:])
		}
	}
}
