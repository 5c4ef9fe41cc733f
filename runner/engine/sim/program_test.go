package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer makes a random workflow that validates: every kind of node that the language has, nested, with dependencies of
// both sorts. It is text, so that a run that went wrong can be read.
type writer struct {
	r     *rand.Rand
	b     strings.Builder
	names int
	left  int
	// seen are the nodes written so far that can be named here; open are the groups around.
	seen []string
}

// randomProgram writes a program of at most size nodes. Timeouts and cancels depend on when things happen, so timed says
// whether there may be any: without them the end of a run does not depend on the order of events.
func randomProgram(r *rand.Rand, size int, timed bool) string {
	w := &writer{r: r, left: size}
	w.line(0, `agent "echo" {`)
	w.line(1, `type = "null"`)
	if w.maybe(2) {
		w.line(1, "concurrency = %d", 1+r.IntN(3))
	}
	if w.maybe(2) {
		w.retry(1)
	}
	w.line(0, "}")
	w.line(0, `gate "quick" { check = "result.attempts < %d" }`, 1+r.IntN(4))
	w.line(0, `gate "probe" {`)
	w.line(1, `run = ["probe", result.status]`)
	if w.maybe(2) {
		w.line(1, `on_fail = "warn"`)
	}
	w.line(0, "}")
	w.line(0, `workflow "w" {`)
	w.line(1, "max_concurrency = %d", 1+r.IntN(6))
	if timed && w.maybe(3) {
		w.line(1, `timeout = "%ds"`, 5+r.IntN(600))
	}
	for w.left > 0 {
		w.node(1, timed)
	}
	for _, name := range w.seen {
		if w.maybe(4) {
			w.line(1, `output "%s" { value = step.%s.output }`, name, name)
		}
	}
	w.line(0, "}")
	return w.b.String()
}

func (w *writer) line(depth int, format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&w.b, format+"\n", args...)
}

// maybe is true once in n times.
func (w *writer) maybe(n int) bool { return w.r.IntN(n) == 0 }

func (w *writer) retry(depth int) {
	w.line(depth, "retry {")
	w.line(depth+1, "max_attempts = %d", 1+w.r.IntN(4))
	if w.maybe(2) {
		w.line(depth+1, `base_delay = "%dms"`, 1+w.r.IntN(5000))
	}
	if w.maybe(2) {
		w.line(depth+1, `jitter = "%s"`, []string{"none", "full", "equal"}[w.r.IntN(3)])
	}
	if w.maybe(3) {
		w.line(depth+1, `when = "error.kind != 'fatal' && attempt < 3"`)
	}
	w.line(depth, "}")
}

// other is a node that can be named here, or "".
func (w *writer) other() string {
	if len(w.seen) == 0 {
		return ""
	}
	return w.seen[w.r.IntN(len(w.seen))]
}

func (w *writer) node(depth int, timed bool) {
	w.left--
	w.names++
	name := fmt.Sprintf("n%d", w.names)
	kind := "step"
	if depth < 4 && w.left > 1 && w.maybe(4) {
		kind = []string{"sequence", "parallel"}[w.r.IntN(2)]
	}
	w.line(depth, "%s %q {", kind, name)
	each := w.maybe(6)
	if each {
		w.line(depth+1, "for_each = %s", []string{`["x", "y", "z"]`, `{ a = 1, b = 2 }`, `[]`, `range(5)`}[w.r.IntN(4)])
	}
	if w.maybe(5) {
		if o := w.other(); o != "" {
			w.line(depth+1, `when = "%s"`, []string{"step." + o + ".status == 'succeeded'", "step." + o + ".attempts > 1", "step." + o + ".output != null"}[w.r.IntN(3)])
		}
	}
	if w.maybe(3) {
		if o := w.other(); o != "" {
			w.line(depth+1, "depends_on = [step.%s]", o)
		}
	}
	if kind == "step" {
		w.action(depth+1, each, timed)
	} else {
		w.group(depth, each, timed)
	}
	w.line(depth, "}")
	w.seen = append(w.seen, name)
}

func (w *writer) action(depth int, each, timed bool) {
	argument := `"plain"`
	if o := w.other(); o != "" {
		argument = []string{"step." + o + ".status", "jsonencode(step." + o + ".output)"}[w.r.IntN(2)]
	}
	if each && w.maybe(2) {
		argument = "jsonencode(each.value)"
	}
	switch w.r.IntN(6) {
	case 0:
		w.line(depth, "value = { a = %s }", argument)
		return
	case 1:
		w.line(depth, `wait { duration = "%ds" }`, 1+w.r.IntN(100))
		return
	case 2, 3:
		w.line(depth, "agent = agent.echo")
		w.line(depth, "with  = { a = %s, n = attempt }", argument)
	default:
		w.line(depth, `run = ["do", %s]`, argument)
	}
	if w.maybe(2) {
		w.retry(depth)
	}
	if timed && w.maybe(4) {
		w.line(depth, `timeout = "%ds"`, 1+w.r.IntN(20))
	}
	switch w.r.IntN(6) {
	case 0:
		w.line(depth, "gates = [gate.quick]")
	case 1:
		w.line(depth, "gates = [gate.probe, gate.quick]")
	}
}

// group writes the children. What lies in a for_each can be named only inside it.
func (w *writer) group(depth int, each, timed bool) {
	if w.maybe(3) {
		w.line(depth+1, "max_concurrency = %d", 1+w.r.IntN(3))
	}
	if timed && w.maybe(4) {
		w.line(depth+1, `timeout = "%ds"`, 1+w.r.IntN(60))
	}
	outside := len(w.seen)
	for n := 1 + w.r.IntN(4); n > 0 && w.left > 0; n-- {
		w.node(depth+1, timed)
	}
	if each {
		w.seen = w.seen[:outside]
	}
}
