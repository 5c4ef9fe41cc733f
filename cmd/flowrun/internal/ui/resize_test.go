package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// emulator is a terminal that wraps its lines anew when its size changes, and takes lines back from above when it becomes higher, as
// most do. Like some, it keeps for a row that is overwritten that the next row continues it.
type emulator struct {
	columns, rows int
	lines         []termLine // those above the screen, too
	base          int        // the first on the screen
	row, column   int
}

type termLine struct {
	cells     []rune
	continued bool // the next row continues it
}

func (e *emulator) Write(p []byte) (int, error) {
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		switch r := text[i]; r {
		case '\r':
			e.column = 0
		case '\n':
			e.column = 0
			e.down()
		case '\x1b':
			n := 0
			for i += 2; text[i] >= '0' && text[i] <= '9' || text[i] == ';'; i++ {
				n = n*10 + int(text[i]-'0')
			}
			e.act(text[i], n)
		default:
			e.put(r)
		}
	}
	return len(p), nil
}

func (e *emulator) line() *termLine {
	for len(e.lines) <= e.row {
		e.lines = append(e.lines, termLine{})
	}
	return &e.lines[e.row]
}

func (e *emulator) down() {
	e.row++
	e.line()
	e.base = max(e.base, e.row-e.rows+1)
}

func (e *emulator) put(r rune) {
	if e.column == e.columns {
		e.line().continued = true
		e.column = 0
		e.down()
	}
	l := e.line()
	for len(l.cells) <= e.column {
		l.cells = append(l.cells, ' ')
	}
	l.cells[e.column] = r
	e.column++
}

func (e *emulator) act(final rune, n int) {
	switch final {
	case 'A':
		e.row = max(e.base, e.row-n)
	case 'K':
		l := e.line()
		l.cells = l.cells[:min(len(l.cells), e.column)]
	case 'J':
		l := e.line()
		l.cells, l.continued = l.cells[:min(len(l.cells), e.column)], false
		e.lines = e.lines[:e.row+1]
	}
}

// resize wraps all lines anew.
func (e *emulator) resize(columns, rows int) {
	var wrapped []termLine
	var whole []rune
	at := -1 // of the cursor in the whole line
	cursor := [2]int{}
	for i, l := range e.lines {
		if i == e.row {
			at = len(whole) + e.column
		}
		whole = append(whole, l.cells...)
		if l.continued {
			whole = append(whole, []rune(strings.Repeat(" ", max(0, e.columns-len(l.cells))))...)
			continue
		}
		if at >= 0 {
			cursor, at = [2]int{len(wrapped) + at/columns, at % columns}, -1
		}
		for len(whole) > columns {
			wrapped = append(wrapped, termLine{slices.Clone(whole[:columns]), true})
			whole = whole[columns:]
		}
		wrapped, whole = append(wrapped, termLine{slices.Clone(whole), false}), nil
	}
	e.lines, e.columns, e.rows, e.row, e.column = wrapped, columns, rows, cursor[0], cursor[1]
	e.base = max(0, len(e.lines)-rows)
}

// text is all that somebody can see, from the first line to the last that is not empty.
func (e *emulator) text() []string {
	var list []string
	for _, l := range e.lines {
		list = append(list, strings.TrimRight(string(l.cells), " "))
	}
	for len(list) > 0 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// After any changes of the terminal's size the screen ends with one whole picture of the run, and no remains of an earlier one are above
// it; what was said above the tree is there once.
func TestResizeLeavesNoRemains(t *testing.T) {
	for name, sizes := range map[string][][2]int{
		"lower and higher": {{100, 30}, {50, 12}, {140, 40}},
		"narrower":         {{100, 30}, {20, 30}},
		"narrow and wide":  {{100, 30}, {20, 30}, {100, 30}},
		"back and forth":   {{100, 30}, {30, 8}, {100, 30}, {30, 8}, {200, 60}},
		"tiny":             {{80, 24}, {10, 3}, {80, 24}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &ir.Workflow{Name: "ship"}
			for i := range 14 {
				w.Nodes = append(w.Nodes, ir.Node{Name: fmt.Sprintf("step_%c", 'a'+i), Kind: ir.Step})
			}
			e := &emulator{columns: sizes[0][0], rows: sizes[0][1]}
			s := newStage(w, 0, 0, func(t *Term, s Scene) Progress { return NewTree(t, s) })
			s.term.w, s.term.size = e, func() (int, int) { return e.columns, e.rows }
			fmt.Fprint(e, "$ flowrun apply\n")
			s.batch(0, event.Event{RunStarted: &event.RunStarted{Run: "abc", Workflow: "ship"}}, nil, event.Transition{To: event.Running})
			for i := range 14 {
				s.at(0, event.Transition{Node: w.Nodes[i].Name, To: event.Running, Attempt: 1})
			}
			s.tick(time.Second)
			s.p.Say("hello")
			s.tick(time.Second)
			for _, size := range sizes[1:] {
				e.resize(size[0], size[1])
				s.tick(2 * time.Second)
				s.tick(3 * time.Second)
			}
			tree := s.p.(*Tree)
			want, have := tree.lines(e.columns, e.rows), e.text()
			for i := range want {
				want[i] = strings.TrimRight(want[i], " ")
			}
			if tail := have[max(0, len(have)-len(want)):]; !slices.Equal(tail, want) {
				t.Errorf("the last lines are\n%s\nwant\n%s", strings.Join(tail, "\n"), strings.Join(want, "\n"))
			}
			above := strings.Join(have[:max(0, len(have)-len(want))], "\n")
			if strings.Contains(above, "step_") || strings.Contains(above, "ship abc") {
				t.Errorf("remains stand above the tree:\n%s", above)
			}
			if n := strings.Count(above, "hello"); n != 1 {
				t.Errorf("what was said is there %d times:\n%s", n, above)
			}
		})
	}
}
