package sim_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// person is who cancels nodes of a simulation, so that the reasons of transitions and commands tell these cancels apart.
const person = "Tim"

// mostCancels is how many nodes of a run are cancelled, if any.
const mostCancels = 3

// cancelNodes lets a person cancel nodes of the run while it is driven: of every third program that depends on time, of some of them
// beside a cancel of the run. Most nodes run; some have not started, some have ended, and some do not exist.
func (c *simulation) cancelNodes() engine.Watcher {
	if c.untimed || c.seed%6 != 3 && c.seed%12 != 0 {
		return nil
	}
	r, left := rand.New(rand.NewPCG(c.seed, 18)), mostCancels
	return func(events []event.Event, _ *event.Reaction, replayed bool) {
		if replayed || left == 0 || r.IntN(4) > 0 {
			return
		}
		left--
		_ = c.engine.Signal(context.Background(), root, event.NodeCancel{By: person}.External(c.pickNode(r)))
	}
}

// pickNode picks a node of the run.
func (c *simulation) pickNode(r *rand.Rand) string {
	j := c.runs[root].j
	var live, all []string
	for _, path := range slices.Sorted(maps.Keys(j.status)) {
		if path == "" {
			continue
		}
		if all = append(all, path); !j.status[path].Terminal() {
			live = append(live, path)
		}
	}
	eachNode(c.runs[root].w.Nodes, func(n *ir.Node) { all = append(all, n.Name) })
	if len(live) > 0 && r.IntN(4) > 0 {
		return live[r.IntN(len(live))]
	}
	return append(all, "nowhere")[r.IntN(len(all)+1)]
}

// noteCancels notes the cancels of nodes that had an effect, and says if something starts in a node that a person has
// cancelled in an earlier batch.
func (j *journey) noteCancels(events []event.Event, r *event.Reaction) (wrong string) {
	for _, cmd := range r.Commands {
		if a := cmd.Start; a != nil && !a.Compensate && a.Kind != event.HoldAttempt && !tells(a) {
			for path := a.Node; path != ""; path = view.Parent(path) {
				if j.ended[path] {
					wrong = a.Node + " starts after a person has cancelled " + path
				}
			}
		}
	}
	for _, ev := range events {
		if x := ev.External; x != nil && x.Kind == event.ExternalCancelNode && j.tookCancel(x.Node, r) {
			j.ended[x.Node] = true
		}
	}
	return wrong
}

// tookCancel reports whether a person has ended something in a batch, at a path or below it. What ends because of an earlier cancel does not
// count: this one may have come too late, when the run was ending and spared the nodes that always run (seed 1164).
func (j *journey) tookCancel(path string, r *event.Reaction) bool {
	ended := func(node, reason string) bool {
		for ; node != "" && node != path; node = view.Parent(node) {
			if j.ended[node] {
				return false
			}
		}
		return node != "" && strings.Contains(reason, person+" cancelled it")
	}
	return slices.ContainsFunc(r.Transitions, func(t event.Transition) bool { return ended(t.Node, t.Reason) }) ||
		slices.ContainsFunc(r.Commands, func(c event.Command) bool {
			return c.Cancel != nil && ended(c.Cancel.Node, c.Cancel.Reason) || c.CancelChild != nil && ended(c.CancelChild.Node, c.CancelChild.Reason)
		})
}

// cancelledWait reports whether a wait for an event of the run was cancelled, by a person or with the run. The run that repeats it waits
// again, and reuses the step that has published the event.
func (c *simulation) cancelledWait() (cancelled bool) {
	j := c.runs[root].j
	eachNode(c.runs[root].w.Nodes, func(n *ir.Node) {
		w := did[*ir.Wait](n)
		for path, name := range j.names {
			cancelled = cancelled || w != nil && w.Event != "" && name == n.Name && j.status[path] == event.Cancelled
		}
	})
	return cancelled
}
