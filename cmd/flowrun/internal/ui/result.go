package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Outputs writes a run's outputs in the order of their names: "name = value", strings as they are where they fit on a
// line, all else as JSON.
func Outputs(t *Term, outputs map[string]value.Value) {
	for _, k := range value.Keys(outputs) {
		t.Printf("%s = %s\n", k, oneLine(outputs[k]))
	}
}

func oneLine(v value.Value) string {
	if s, ok := v.(string); ok && Clean(s) == s {
		return s
	}
	return Clean(string(value.Append(nil, v)))
}

// Degraded writes a line about the nodes for which the output of a degrade block stands in, if there are some.
func Degraded(t *Term, r *view.Run) {
	if d := r.Degraded(); len(d) > 0 {
		t.Printf("%s: another output replaces the output of %s\n", t.Style(yellow, "degraded"), Clean(strings.Join(d, ", ")))
	}
}

// MaxChangesShown is how many of the changes by rules of adapt runs show prints, the last ones.
const MaxChangesShown = 20

// Shown says which parts of a run are shown.
type Shown struct {
	All bool // long lists of nodes in full
	// Failed restricts it to the steps that failed, and Step to one step and the nodes below it; "" is no restriction.
	Failed bool
	Step   string
}

// Show writes a run as a tree, with the reasons, and with the attempts that have not answered. Long
// lists of nodes are folded, unless all are wanted; failures are always shown.
func Show(t *Term, r *view.Run, begun []*view.Begun, scene Scene, now event.Time, which Shown) {
	var head strings.Builder
	fmt.Fprintf(&head, "run %s of %s: %s", Clean(r.ID), Clean(r.Workflow), t.Style(wordStyle(r), r.Word()))
	if r.StartedAt != 0 {
		fmt.Fprintf(&head, " after %s, started %s", Duration(r.Duration(now)), t.When(r.StartedAt, now))
	}
	if r.Parent != "" {
		fmt.Fprintf(&head, ", called by %s of run %s", Clean(r.ParentNode), Clean(r.Parent))
	}
	if r.Cause != nil {
		fmt.Fprintf(&head, ", started by %s", Clean(r.Cause.String()))
	}
	if len(r.Targets) > 0 {
		fmt.Fprintf(&head, ", limited to %s", Clean(strings.Join(r.Targets, ", ")))
	}
	if r.RetryOf != "" {
		fmt.Fprintf(&head, ", repeats run %s", Clean(r.RetryOf))
	}
	if r.RetriedBy != "" {
		fmt.Fprintf(&head, ", repeated by run %s", Clean(r.RetriedBy))
	}
	l := view.Line{Result: &event.Result{Error: r.Error}}
	if list, all := r.Failures(view.MaxFailures); r.Status == event.FailedS && all > 0 && fromNode(r.Error) {
		fmt.Fprintf(&head, "%s", failures(list, all))
	} else {
		fmt.Fprintf(&head, "%s", because(culprit(&l)+why(r.Status, r.Reason, l.Result)))
	}
	t.Printf("%s\n", t.broken(head.String(), "  "))
	if r.About != "" {
		t.Printf("description: %s\n", Clean(r.About))
	}
	for _, w := range r.Warnings {
		t.Printf("%s\n", t.broken(t.Style(yellow, "warning")+because(w), "  "))
	}
	Degraded(t, r)
	for _, c := range r.Changes[max(0, len(r.Changes)-MaxChangesShown):] {
		of := ""
		if c.Node != "" {
			of = " " + Clean(c.Node)
		}
		t.Printf("adapted%s at %s%s\n", of, t.Clock(c.At), because(c.Reason))
	}
	if which.Failed {
		showFailures(t, r, scene, now, which)
		return
	}
	nodes := rowsOf(r.Roots, 0, r.Stands, which.All)
	for i := range nodes {
		if n := nodes[i].n; n != nil {
			nodes[i].said = queued(r, n)
		}
	}
	begun = begun[max(0, len(begun)-MaxBegunShown):]
	for i, line := range rows(t, nodes, now, 0, 0) {
		if nodes[i].n == nil {
			t.Printf("%s\n", line)
			continue
		}
		t.Printf("%s\n", t.broken(line+ran(r, nodes[i].n)+described(t, r, nodes[i].n), strings.Repeat("  ", max(0, nodes[i].depth)+3)))
		begunBelow(t, begun, nodes[i].n.Path, now)
	}
	if r.Status.Terminal() {
		Outputs(t, r.Outputs)
	}
}

// described is the description of a node behind its row; instances and iterations leave it to the row of all of them.
func described(t *Term, r *view.Run, n *view.Node) string {
	text := r.Description(n)
	if text == "" || strings.HasSuffix(n.Path, "]") || n.Iteration() > 0 {
		return ""
	}
	return "  " + t.Style(dim, Truncate(Clean(text), SaidCells))
}

// queued says that a node, or instances of it, wait for a slot.
func queued(r *view.Run, n *view.Node) string {
	unmade := n.Unmade()
	switch {
	case r.Stands != 0:
	case r.WaitsForSlot(n):
		return "waits for a slot"
	case unmade == 1:
		return "1 waits for a slot"
	case unmade > 1:
		return fmt.Sprintf("%d wait for a slot", unmade)
	}
	return ""
}

// ran is why a node runs or ran, which a row of the live tree leaves out.
func ran(r *view.Run, n *view.Node) string {
	if n.Status != event.Succeeded && n.Status != event.Running && n.Status != event.FailedS {
		return ""
	}
	if n.Child != "" && strings.Contains(n.Reason, n.Child) {
		return "" // the row names it
	}
	if why := r.Why(n); why != view.Free && why != view.Member && why != "" && !strings.Contains(remark(n), why) {
		return "  (" + Clean(why) + ")"
	}
	return ""
}

// failureLines bounds what is shown of the output of each failure in a list of them.
const failureLines = 5

// showFailures lists the steps of a run that failed, each with its place and the end of its output.
func showFailures(t *Term, r *view.Run, scene Scene, now event.Time, which Shown) {
	var list []*view.Node
	r.Each(func(n *view.Node, _ int) {
		if n.Failed() && view.IsAbout(n.Path, which.Step) {
			list = append(list, n)
		}
	})
	left := 0
	if !which.All {
		left = max(0, len(list)-MaxFailuresShown)
		list = list[:len(list)-left]
	}
	if len(list) == 0 {
		t.Printf("No step failed.\n")
	}
	for _, n := range list {
		t.Printf("%s\n", rows(t, []rowNode{{n: n, depth: -1, stands: r.Stands}}, now, 0, 0)[0])
		if scene.Where != nil {
			if at := scene.Where(n.Name); at != "" {
				t.Printf("      at %s\n", Clean(at))
			}
		}
		if n.Result == nil {
			continue
		}
		res := n.Result.Shown()
		tail := lastLines(res.Stderr, failureLines)
		if tail == "" {
			tail = lastLines(res.Stdout, failureLines)
		}
		if tail != "" {
			t.Printf("%s\n", indent(excerpt(tail), "      | "))
		}
	}
	if left > 0 {
		t.Printf("  … not shown: %s (--all)\n", Count(left, "failure"))
	}
}
