package logs

import (
	"strings"
	"testing"
)

// A line is given once it has ended, or is too long to wait for; pieces of any size give the same lines.
func TestLinesOfATail(t *testing.T) {
	text := "one\n\ntwo" + strings.Repeat("x", maxOpenLine) + "\nthree\n"
	for _, size := range []int{1, 7, 1000, len(text)} {
		var have []string
		tail := &Tail{Lines: func(_, _ string, lines []string) { have = append(have, lines...) }}
		f := &flow{}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			tail.giveLines(f, []byte(rest[:n]))
			rest = rest[n:]
			if len(f.open) >= maxOpenLine {
				t.Fatalf("%d bytes are held", len(f.open))
			}
		}
		all := strings.Join(have, "|")
		if !strings.HasPrefix(all, "one||two") || !strings.HasSuffix(all, "three") || strings.Count(all, "x") != maxOpenLine {
			t.Errorf("pieces of %d give %.60q… %.40q", size, all, all[len(all)-40:])
		}
	}
}
