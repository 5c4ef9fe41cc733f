package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/replay"
	"github.com/flowrun/flowrun/runner/reuse"
	"github.com/flowrun/flowrun/runner/view"
)

// reuseJSON is the line of --json that says what a run of a changed file reuses.
type reuseJSON struct {
	V      int           `json:"v"`
	Type   string        `json:"type"` // retry.plan
	Run    string        `json:"run"`  // the run that is repeated
	File   string        `json:"file"`
	Reused []string      `json:"reused"`
	Again  []reuse.Again `json:"again"`
	Gone   []string      `json:"gone"`
}

// ReuseJSON writes what a run of a changed file would reuse of an earlier run.
func ReuseJSON(t *Term, run, file string, p *reuse.Plan) error {
	return WriteJSON(t, reuseJSON{EventVersion, "retry.plan", run, file, list(p.Reused), append([]reuse.Again{}, p.Again...), list(p.Gone)})
}

func list(names []string) []string { return append([]string{}, names...) }

// Reuse writes the same for people.
func Reuse(t *Term, run, file string, p *reuse.Plan) {
	again := "no step runs"
	if n := len(p.Again); n == 1 {
		again = "1 step runs"
	} else if n > 1 {
		again = fmt.Sprintf("%d steps run", n)
	}
	t.Printf("%s against run %s: %s, %s\n", Clean(file), Clean(run), reusedWords(len(p.Reused)), again)
	for i := range p.Again {
		a := &p.Again[i]
		t.Printf("  %s: %s\n", Clean(a.Node), Clean(a.Words))
		for _, c := range a.Changes {
			t.Printf("    %s\n", changeWords(&c))
		}
	}
	if len(p.Gone) > 0 {
		t.Printf("  no longer in the file: %s\n", Clean(strings.Join(p.Gone, ", ")))
	}
}

func reusedWords(n int) string {
	if n == 1 {
		return "1 result is reused"
	}
	return fmt.Sprintf("%d results are reused", n)
}

// changeWords is a change on one line. Of long values it shows the part that differs.
func changeWords(c *replay.Change) string {
	text := func(d *view.Data) string {
		if d == nil {
			return "nothing"
		}
		return Clean(string(value.Append(nil, d.Value)))
	}
	was, is := fromDifference(text(c.Was), text(c.Is))
	return Clean(c.Field) + ": " + Truncate(was, MaxOutputCells) + " → " + Truncate(is, MaxOutputCells)
}

// fromDifference leaves out what two texts begin with alike, if they are too long to show what differs.
func fromDifference(a, b string) (string, string) {
	const before = 12 // characters alike that stay
	x, y := []rune(a), []rune(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	if n < MaxOutputCells-before || n == max(len(x), len(y)) {
		return a, b
	}
	return "…" + string(x[n-before:]), "…" + string(y[n-before:])
}
