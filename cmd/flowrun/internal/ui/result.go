package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
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

// Show writes a run as a tree, with the reasons.
func Show(t *Term, r *view.Run, now event.Time) {
	t.Printf("run %s of %s: %s", Clean(r.ID), Clean(r.Workflow), t.Style(statusStyle(r.Status), string(r.Status)))
	if r.StartedAt != 0 {
		t.Printf(" after %s, started %s", Duration(r.Duration(now)), r.StartedAt)
	}
	if r.Parent != "" {
		t.Printf(", called by %s of run %s", Clean(r.ParentNode), Clean(r.Parent))
	}
	l := view.Line{Result: &event.Result{Error: r.Error}}
	t.Printf("%s\n", because(culprit(&l)+why(r.Status, r.Reason, l.Result)))
	var nodes []entry
	r.Each(func(n *view.Node, depth int) { nodes = append(nodes, entry{n, depth}) })
	for i, line := range rows(t, nodes, now, 0, 0) {
		t.Printf("%s\n", line+ran(r, nodes[i].n))
	}
	if r.Status.Terminal() {
		Outputs(t, r.Outputs)
	}
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

// Listed is a run in a listing.
type Listed struct {
	Run        string       `json:"run"`
	Workflow   string       `json:"workflow"`
	Status     event.Status `json:"status"`
	StartedAt  view.Moment  `json:"started_at"`
	FinishedAt view.Moment  `json:"finished_at"`
	// Driver is the process that drives the run now, or 0.
	Driver int `json:"driver,omitempty"`
	// Parent is the run that called this one, and ParentNode the path of its node that did.
	Parent     string `json:"parent,omitempty"`
	ParentNode string `json:"parent_node,omitempty"`
}

// below puts each run that was called under the one that called it, if that is listed, in the order of their starts. It gives
// the depth of each.
func below(runs []Listed) (sorted []Listed, depths []int) {
	listed, children := map[string]bool{}, map[string][]Listed{}
	for _, r := range runs {
		listed[r.Run] = true
	}
	for i := len(runs) - 1; i >= 0; i-- {
		children[runs[i].Parent] = append(children[runs[i].Parent], runs[i])
	}
	var add func(r Listed, depth int)
	add = func(r Listed, depth int) {
		sorted, depths = append(sorted, r), append(depths, depth)
		for _, c := range children[r.Run] {
			add(c, depth+1)
		}
	}
	for _, r := range runs {
		if r.Parent == "" || !listed[r.Parent] {
			add(r, 0)
		}
	}
	return sorted, depths
}

// List writes runs as a table, or as one JSON array.
func List(t *Term, runs []Listed, now event.Time, asJSON bool) {
	if asJSON {
		if runs == nil {
			runs = []Listed{}
		}
		_ = WriteJSON(t, runs)
		return
	}
	name := len("WORKFLOW")
	runs, depths := below(runs)
	for i := range runs {
		name = max(name, 2*depths[i]+Cells(Clean(runs[i].Workflow)))
	}
	t.Printf("%s\n", t.Style(bold, fmt.Sprintf("%-12s  %-*s  %-9s  %8s  %s", "RUN", name, "WORKFLOW", "STATUS", "TOOK", "STARTED")))
	for i, r := range runs {
		end := event.Time(r.FinishedAt)
		if end == 0 {
			end = now
		}
		w := strings.Repeat("  ", depths[i]) + Clean(r.Workflow)
		note := ""
		switch {
		case r.Parent != "":
			note = "  called by " + Clean(r.ParentNode)
			if depths[i] == 0 {
				note += " of run " + Clean(r.Parent)
			}
		case !r.Status.Terminal() && r.Driver == 0:
			note = "  nobody drives it: flowrun resume " + Clean(r.Run)
		}
		t.Printf("%-12s  %s%s  %s%s  %8s  %s%s\n", Clean(r.Run), w, strings.Repeat(" ", name-Cells(w)),
			t.Style(statusStyle(r.Status), string(r.Status)), strings.Repeat(" ", max(0, 9-len(r.Status))),
			Duration(end.Sub(event.Time(r.StartedAt))), event.Time(r.StartedAt), note)
	}
}

// Problem is what stands on standard output in place of a JSON result where the command itself failed.
type Problem struct {
	V        int         `json:"v"`
	Type     string      `json:"type"` // "error"
	Error    ProblemText `json:"error"`
	ExitCode int         `json:"exit_code"`
}

// ProblemText says what went wrong. Kind is usage or failed.
type ProblemText struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// NewProblem makes a Problem.
func NewProblem(kind, message string, exitCode int) Problem {
	return Problem{EventVersion, "error", ProblemText{kind, message}, exitCode}
}

// Checked is the word about programs without errors.
func Checked(programs, nodes int, found diag.List) string {
	s := fmt.Sprintf("%s with %s: no errors", plural(programs, "program"), plural(nodes, "node"))
	count := map[diag.Severity]int{}
	for i := range found {
		count[found[i].Severity]++
	}
	if n := count[diag.Warning]; n > 0 {
		s += ", " + plural(n, "warning")
	}
	if n := count[diag.Advice]; n > 0 {
		s += ", " + plural(n, "piece") + " of advice"
	}
	return s
}
