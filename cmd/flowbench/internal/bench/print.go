package bench

import (
	"encoding/json"
	"fmt"
	"io"
)

// figure is one number and what is wanted of it.
type figure struct {
	what   string
	have   float64
	unit   string
	wanted bound
	beside string // what it was measured beside, in words
}

// bound is what is wanted: at most, or at least, so much. The zero bound wants nothing.
type bound struct {
	most, least float64
}

func atMost(v float64) bound  { return bound{most: v} }
func atLeast(v float64) bound { return bound{least: v} }

func (b bound) holds(v float64) bool { return (b.most == 0 || v <= b.most) && v >= b.least }

func (b bound) String() string {
	switch {
	case b.most > 0:
		return fmt.Sprintf("≤ %.4g", b.most)
	case b.least > 0:
		return fmt.Sprintf("≥ %.4g", b.least)
	}
	return ""
}

type printer struct {
	out    io.Writer
	asJSON bool
	judged bool // not where sizes are scaled
	header bool
}

func newPrinter(out io.Writer, asJSON, judged bool) *printer {
	return &printer{out: out, asJSON: asJSON, judged: judged}
}

// print shows a figure and tells whether it is as good as is wanted.
func (p *printer) print(r row, f figure) bool {
	ok, verdict := !p.judged || f.wanted.holds(f.have), ""
	switch {
	case f.wanted == bound{} || !p.judged:
	case ok:
		verdict = "pass"
	default:
		verdict = "short"
	}
	if p.asJSON {
		b, err := json.Marshal(map[string]any{"row": r.name, "what": f.what, "have": f.have, "unit": f.unit, "wanted": f.wanted.String(),
			"verdict": verdict, "beside": f.beside})
		if err != nil {
			panic("flowbench: " + err.Error()) // plain data
		}
		fmt.Fprintf(p.out, "%s\n", b)
		return ok
	}
	if !p.header {
		fmt.Fprintf(p.out, "%-9s %-50s %8s %-4s %-7s %-6s %s\n", "ROW", "FIGURE", "HAVE", "", "WANTED", "", "BESIDE")
		p.header = true
	}
	fmt.Fprintf(p.out, "%-9s %-50s %8s %-4s %-7s %-6s %s\n", r.name, f.what, number(f.have), f.unit, f.wanted, verdict, f.beside)
	return ok
}

// number writes three significant digits, and whole what has more before the point.
func number(v float64) string {
	switch {
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10 || v <= -10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
