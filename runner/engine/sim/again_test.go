package sim_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/view"
)

// again is the run that repeats the first one. In it other attempts fail.
const again = "simulated001"

// repeat runs again the nodes that did not succeed, as a run of its own in the same world, and checks that nothing that it reuses is run
// again. It tells whether there was anything to repeat.
func (c *simulation) repeat(t *testing.T) bool {
	t.Helper()
	w := c.program.Workflow("w")
	g, err := plan.Build(c.program, "w")
	if err != nil {
		t.Fatal(err)
	}
	first, r := c.past(t, w)
	wish := byHand(c.seed, r)
	p, err := retry.Of(g, first, r, wish)
	if errors.As(err, new(*retry.Refusal)) && wish.Set != nil { // what the person gives does not fit
		p, err = retry.Of(g, first, r, retry.Wish{})
	}
	if errors.As(err, new(*retry.Refusal)) {
		return false
	} else if err != nil {
		t.Fatalf("seed %d: %v", c.seed, err)
	}
	c.runs[again] = newSeen("again", w, "")
	if _, err := c.engine.Start(context.Background(), engine.Start{
		Header:     journal.Header{Behaviour: ir.Behaviour, Definition: c.program.Hash(), Workflow: "w", Run: again},
		Definition: c.program.Canonical(),
		First:      event.RunStarted{Workflow: "w", Dir: "/", RetryOf: root, Reused: p.Reused, Targets: p.Targets},
	}); err != nil {
		t.Fatal(err)
	}
	end, err := c.drive(again, nil)
	if errors.Is(err, sim.ErrStuck) && c.cancelledWait() {
		return true
	}
	if err != nil {
		t.Errorf("seed %d: the run that repeats it: %v", c.seed, err)
		return true
	}
	s := c.runs[again]
	s.end = &end
	for path, k := range p.Reused { // any order: they are checked
		switch how := s.j.status[path]; {
		case how == "" && strings.Contains(path, "["): // an instance of what ended otherwise
		case how == event.Cancelled && !c.untimed: // a step had ended the run, or stopped the group, before its turn came
		case k.Set && (how == "" || how == event.Skipped): // the group around it takes another way now
		case k.Set && how == event.Blocked && s.j.status[view.Parent(path)].Bad(): // the group around it is not let in now, and its turn does not come
		case how != k.Status && !s.wentWrong():
			t.Errorf("seed %d: %s was reused as %s and ends %q", c.seed, path, k.Status, how)
		}
		if s.j.first[path] > 0 {
			t.Errorf("seed %d: %s is reused and was started", c.seed, path)
		}
		for _, undone := range c.runs[root].j.undone {
			if rest, in := strings.CutPrefix(undone, path); in && !k.Set && (rest == "" || rest[0] == '/' || rest[0] == '[') {
				t.Errorf("seed %d: %s is reused, and %s was undone", c.seed, path, undone)
			}
		}
	}
	c.outlived()
	c.judge(s)
	c.replay(t, again)
	return true
}

// byHand lets a person do one step that failed: of every third seed, so that the others repeat what failed.
func byHand(seed uint64, r *view.Run) (w retry.Wish) {
	if seed%3 != 0 {
		return w
	}
	r.Each(func(n *view.Node, _ int) {
		if w.Set == nil && n.Status == event.FailedS && len(n.Children) == 0 {
			w = retry.Wish{Set: []retry.Set{{Step: n.Path, Output: "by hand"}}, By: "somebody"}
		}
	})
	return w
}

// past is how the first run began, and what became of it.
func (c *simulation) past(t *testing.T, w *ir.Workflow) (first *event.RunStarted, r *view.Run) {
	t.Helper()
	r = view.New(w)
	if _, err := c.engine.Drive(context.Background(), root, func(events []event.Event, reaction *event.Reaction, _ bool) {
		if events[0].RunStarted != nil {
			first = events[0].RunStarted
		}
		r.Apply(slices.Clone(events), reaction)
	}); err != nil && !errors.Is(err, sim.ErrCrashed) {
		t.Fatal(err)
	}
	return first, r
}
