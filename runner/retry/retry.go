// Package retry decides what a run that repeats another one reuses of it, and what runs again.
//
// It reads the view of a run that has ended and the graph that it ran, and writes what the new run's first event holds:
// how nodes ended, by their paths. The rules, in this order:
//
//   - A step that succeeded is reused, and so is a failure that was tolerated, or a node that a person skipped: it is settled. What failed, was blocked or
//     cancelled, and what the run never came to, runs again. Each instance of a for_each stands for itself. A repeat is
//     one piece, and so is a call: a child that succeeded is its outputs, and one that did not is called again.
//   - What the run began to undo runs again, whatever it was.
//   - What depends on a node that runs again, by a reference of either kind, by depends_on or by its place in a
//     sequence, runs again, too, and so on. A group is as new as the newest node in it.
//   - A group or for_each that ended well because its join had enough keeps the ends of its losers, as long as nothing in it is
//     run again; so does a group whose failure was tolerated.
//   - A step that a person sets has the result that the person gives, whatever it was. To what depends on it, it is a node that
//     runs again.
//   - finally belongs to its run, and is never reused; nor is a step that ends the run.
//
// The package does no I/O and never imports a host or the machine. Its answer depends on its arguments alone. Enter at [Of].
package retry

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/view"
)

// MaxReused bounds the bytes of what a run reuses, as JSON: they are one event of its journal.
const MaxReused = 64 << 20

// MaxNamed bounds how many nodes a refusal names.
const MaxNamed = 5

// Wish says which nodes run again. The zero value is for what did not end well, and what depends on it.
type Wish struct {
	// From is the name or the path of a node that runs again besides, with all that depends on it.
	From string
	// Only is the name of the one node that runs again, or the path of one instance of a for_each. All else is reused as it is, or left
	// out. The other instances keep their ends, also those that failed.
	Only string
	// Set are steps that count as succeeded with outputs that By gives: what a person did by hand. All that depends on them runs again.
	Set []Set
	By  string
	// All runs the whole workflow, where the run that repeats was limited to some nodes.
	All bool
	// Changed tells that the new run is one of a changed program, so that it may be that nothing runs again.
	Changed bool
}

// isZero reports whether nothing is wished for.
func (w *Wish) isZero() bool {
	return w.From == "" && w.Only == "" && len(w.Set) == 0 && !w.All && !w.Changed
}

// Plan is what the new run is told.
type Plan struct {
	Reused  map[string]*event.Reused // by path; nil where nothing is
	Targets []string                 // as of [event.RunStarted]
}

// Advice is what helps where a wish is refused.
type Advice uint8

// The advices.
const (
	WithoutWish Advice = iota // retry without a wish
	OnlyNode                  // make the refused node alone
	FromNode                  // name a node that runs again, too
	FromOrAnew                // the same, or start a run anew
	WholeRun                  // make more than the one node
	Without                   // leave the wish out, or put it in another way
	Anew                      // start a run of the file
	JSONText                  // see what the output of the node must be
)

// Refusal says why a run cannot be repeated as wished.
type Refusal struct {
	Message string
	Advice  Advice
	Node    string // the node of OnlyNode
}

func (r *Refusal) Error() string { return r.Message }

// Of decides for a run that has ended: g is the graph that it ran, first its first event, r its view,
// which may forget iterations. The error is a *Refusal.
func Of(g *plan.Graph, first *event.RunStarted, r *view.Run, w Wish) (*Plan, error) {
	w.From, w.Only = repeatOf(g, w.From), repeatOf(g, w.Only)
	s := newSurvey(g, first, r, w.Only != "")
	p := &Plan{}
	if !w.All {
		p.Targets = first.Targets
	}
	if number := g.Number(view.Base(w.From + w.Only)); len(g.Finally) > 0 && number >= g.Finally[0] {
		return nil, &Refusal{fmt.Sprintf("%q belongs to finally, which runs at the end of every run", w.From+w.Only), WithoutWish, ""}
	}
	switch {
	case w.Only != "":
		p.Targets = []string{view.Base(w.Only)}
		s.name(w.Only)
		if err := s.keepOthers(w.Only); err != nil {
			return nil, err
		}
	case w.From != "":
		if name := view.Base(w.From); len(p.Targets) > 0 && g.Number(name) != plan.None && !s.asked[g.Number(name)] {
			return nil, &Refusal{fmt.Sprintf("run %s was asked for %s, and %q is not needed for that", r.ID, strings.Join(p.Targets, ", "), name), OnlyNode, name}
		}
		s.name(w.From)
		if err := s.knowPath(w.From); err != nil {
			return nil, err
		}
	}
	if err := s.setSteps(w, p.Targets); err != nil {
		return nil, err
	}
	s.settle()
	if w.Only != "" {
		if err := s.missing(w.Only); err != nil {
			return nil, err
		}
	}
	if w.isZero() && r.Status == event.Succeeded && !s.anew() {
		return nil, &Refusal{fmt.Sprintf("run %s succeeded, so no step has to run again", r.ID), FromNode, ""}
	}
	if p.Reused = s.collect(p.Targets); s.err != nil {
		return nil, fmt.Errorf("run %s: %w", r.ID, s.err)
	}
	if text, err := json.Marshal(p.Reused); err != nil || len(text) > MaxReused {
		return nil, &Refusal{fmt.Sprintf("the results of run %s have %d bytes; a run reuses at most %d", r.ID, len(text), MaxReused), FromOrAnew, ""}
	}
	return p, nil
}

// missing refuses to make one node alone where something that it waits for has no end to be reused.
func (s *survey) missing(only string) error {
	wanted := s.graph.Closure([]string{view.Base(only)})
	var names []string
	s.each(func(n *view.Node) {
		if wanted[s.number(n)] && !s.whole(n) && !s.kept(n) && (s.leaf(n) || len(n.Children) == 0) && !s.settled(n) && !s.covered(n) {
			names = append(names, fmt.Sprintf("%q (%s)", n.Path, ended(n)))
		}
	})
	if names == nil {
		return nil
	}
	if len(names) > MaxNamed {
		names = append(names[:MaxNamed], fmt.Sprintf("and %d more", len(names)-MaxNamed))
	}
	return &Refusal{fmt.Sprintf("%q cannot run alone: it needs results that run %s does not have: %s", only, s.run.ID, strings.Join(names, ", ")), WholeRun, ""}
}

// ended says how a node ended, for people.
func ended(n *view.Node) string {
	if undone(n) {
		return "it was compensated"
	}
	return string(n.Status)
}

// anew tells whether anything runs again.
func (s *survey) anew() bool {
	for _, n := range s.run.Roots {
		if !s.final(n) && s.touched(n) {
			return true
		}
	}
	return false
}

// collect gathers the ends that are reused where these targets are asked for; nil where there are none.
func (s *survey) collect(targets []string) map[string]*event.Reused {
	reused := map[string]*event.Reused{}
	var wanted []bool // nil: everything
	if len(targets) > 0 {
		wanted = s.graph.Closure(targets)
	}
	var visit func(n *view.Node, pinned bool)
	visit = func(n *view.Node, pinned bool) {
		node := &s.graph.Nodes[s.number(n)]
		switch {
		case s.whole(n):
		case s.leaf(n):
			if !ends(node) && !undone(n) && s.lasts(n, pinned) {
				reused[n.Path] = s.end(n, true)
			}
		default:
			pinned = pinned || s.settled(n) && !s.touched(n) && !undone(n)
			if !pinned && wanted != nil && !wanted[s.number(n)] {
				return // it is left out, and what lies in it with it
			}
			if pinned && n.Status != event.Skipped {
				reused[n.Path] = s.end(n, node.Joins() || node.Result != nil && (node.Body == plan.None || instance(n)))
			}
			if pinned && n.Status.Bad() && reused[n.Path].StartedAt == 0 {
				return // it ends before what lies in it could begin
			}
			for _, c := range n.Children {
				visit(c, pinned)
			}
		}
	}
	for _, n := range s.run.Roots {
		if !s.final(n) {
			visit(n, false)
		}
	}
	for n, given := range s.set { // any order: it fills a map
		reused[n.Path] = given
	}
	if len(reused) == 0 {
		return nil
	}
	return reused
}

// lasts tells whether a step's end is one to be reused. A skipped one is asked its condition again, but one that a person has skipped stays so.
func (s *survey) lasts(n *view.Node, pinned bool) bool {
	switch n.Status {
	case event.Succeeded:
		return true
	case event.FailedS:
		return pinned || s.settled(n) || s.kept(n)
	case event.Skipped:
		return n.Result != nil && n.Result.By != ""
	}
	return (pinned || s.kept(n)) && n.Status == event.Cancelled
}

// end is how a node ended.
func (s *survey) end(n *view.Node, output bool) *event.Reused {
	e := &event.Reused{Status: n.Status}
	if n.Result == nil {
		return e
	}
	part := *n.Result
	if output = output && n.Status == event.Succeeded; !output {
		part.Output = nil
	}
	r, err := part.Whole()
	if err != nil {
		s.err = err
		return e
	}
	if r.ExitCode >= 0 {
		code := r.ExitCode
		e.ExitCode = &code
	}
	e.Stdout, e.Stderr, e.StdoutLog, e.StderrLog = r.Stdout, r.Stderr, r.StdoutLog, r.StderrLog
	e.Error, e.Attempts, e.Agent, e.StartedAt, e.FinishedAt = r.Error, r.Attempts, r.Agent, r.StartedAt, r.FinishedAt
	e.Winner, e.Iterations, e.Escalated, e.By = r.Winner, r.Iterations, r.Escalated, r.By
	if output {
		e.Output = r.Output
	}
	return e
}

// leaf tells that a node is one piece here: a step, an instance of one, or a repeat.
func (s *survey) leaf(n *view.Node) bool {
	g := &s.graph.Nodes[s.number(n)]
	if g.Body != plan.None && !instance(n) {
		return false
	}
	return g.Kind == ir.Step || g.Loop != plan.None
}

// instance tells that a node is one of a for_each.
func instance(n *view.Node) bool { return strings.HasSuffix(n.Path, "]") }
