package ui

import (
	"fmt"
	"io"
	"strings"
)

// Screen is a text that is painted again and again in one place of a terminal.
type Screen struct {
	t     *Term
	below []string
}

// NewScreen begins where the cursor is.
func NewScreen(t *Term) *Screen { return &Screen{t: t} }

// Paint replaces what was painted last. Lines are cut at the terminal's width, and as many are shown as it has rows.
func (s *Screen) Paint(text string) {
	columns, rows := s.t.Size()
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = lines[:min(len(lines), max(1, rows-1))]
	var b strings.Builder
	if up := height(s.below, columns); up > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA", up)
	}
	for i, l := range lines {
		if Cells(unstyled(l)) >= columns {
			lines[i] = Truncate(unstyled(l), columns-1)
		}
		b.WriteString(lines[i] + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	s.below = lines
	s.t.Printf("%s", b.String())
}

// Into is a Term that writes elsewhere and looks the same.
func (t *Term) Into(w io.Writer) *Term {
	return &Term{w: w, fd: -1, Color: t.Color, UTC: t.UTC, size: t.size}
}
