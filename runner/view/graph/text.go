package graph

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Bounds and measures of what is written in a box. The font is one of fixed width: a character takes 0.6 of its height.
const (
	maxChars  = 36 // of a line; the rest is cut, unless the row of the drawing has room
	mostChars = 72 // of a line in a row with room
	maxMarks  = 4  // lines of marks; the rest is counted
	titleChar = 8  // pixels: 13 px high
	smallChar = 7  // pixels: 11 px high
	titleLine = 18
	smallLine = 15
	padText   = 12 // left and right
	padAbove  = 6
	narrowest = 88
)

// row is a line of text in a box.
type row struct {
	text  string
	class string // title, small or state
}

// rows are what is written in a node's box, in lines of at most so many characters.
func (n *Node) rows(most int) []row {
	out := []row{{n.Title, "title"}}
	if n.Does != "" {
		out = append(out, row{n.Does, "small"})
	}
	if n.Description != "" {
		out = append(out, row{n.Description, "small"})
	}
	marks := slices.DeleteFunc(slices.Clone(n.Marks), func(m string) bool { return slices.Contains(n.shared, m) })
	if len(marks) > maxMarks {
		marks = append(marks[:maxMarks-1:maxMarks-1], fmt.Sprintf("and %d more", len(marks)-maxMarks+1))
	}
	for _, m := range marks {
		out = append(out, row{m, "small"})
	}
	if n.State != nil {
		out = append(out, row{n.State.String(), "state"})
	}
	for i := range out {
		out[i].text = cut(out[i].text, most)
	}
	out[0].text += n.signs
	return out
}

// String is the state in a few words.
func (s *State) String() string {
	text := string(s.Status)
	if s.stood && s.Status == event.Running {
		text = view.Interrupted
	}
	if len(s.Instances) > 0 {
		var parts []string
		for _, st := range event.Statuses {
			if n := s.Instances[event.Status(st)]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, st))
			}
		}
		return strings.Join(parts, ", ")
	}
	if s.Iterations > 0 {
		return fmt.Sprintf("%s, iteration %d", text, s.Iterations)
	}
	if s.Attempts > 1 {
		text += fmt.Sprintf(", %d attempts", s.Attempts)
	}
	return text
}

// size is the room that a node's text takes; for a group the room above what lies in it.
func (n *Node) size(most int) (width, height int) {
	height = 2 * padAbove
	for i, r := range n.rows(most) {
		w := smallChar * cells(r.text)
		if i == 0 {
			w = titleChar * cells(r.text)
			if len(n.below) > 0 {
				w += smallChar * (cells(n.word()) + 1)
			}
			height += titleLine
		} else {
			height += smallLine
		}
		width = max(width, w+2*padText)
	}
	width = max(width, narrowest)
	return width + width%2, height
}

// cut makes a text fit a line: one line, no control characters, at most so many cells.
func cut(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if cells(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		if n += cells(string(r)); n >= most {
			return s[:i] + "…"
		}
	}
	return s
}

// cells is how many columns a text takes: East Asian characters and pictures take two.
func cells(s string) (n int) {
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) ||
			r >= 0xff00 && r < 0xff61 || r >= 0x1f300):
			n += 2
		default:
			n++
		}
	}
	return n
}
