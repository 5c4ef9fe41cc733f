package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// seen is what was seen of one run.
type seen struct {
	// name tells the run apart whatever its id: "" is the one that was started, and see calledAs.
	name   string
	w      *ir.Workflow
	caller string // its id
	j      *journey
	end    *event.End
	live   map[uint64]event.Attempt
	// calls are the ids of the runs that each node called, in the order in which they were first asked for; asked is what was
	// asked, and taken how often the run's journal has the end of each.
	calls  map[string][]string
	asked  map[string]string
	taken  map[string]int
	sent   map[string]bool // the ids that the present driver has asked for
	spends *spending
	// numbers are those that rules of adapt have put into force.
	numbers *numbers
	held    []string // the quotas that its callers hold
	// unwanted tells that the caller asked for the end of the run before it was there.
	unwanted bool
	// turnless tells that the run was cancelled because it would never have its turn again.
	turnless bool
}

func newSeen(name string, w *ir.Workflow, caller string) *seen {
	return &seen{spends: newSpending(w), numbers: newNumbers(), name: name, w: w, caller: caller, j: newJourney(), live: map[uint64]event.Attempt{}, calls: map[string][]string{}, asked: map[string]string{}, taken: map[string]int{}, sent: map[string]bool{}}
}

// calledAs is the name of the nth run that a node calls.
func calledAs(caller, node string, n int) string { return fmt.Sprintf("%s>%s#%d", caller, node, n) }

// under are the paths of what is live and takes a place. A run that heals takes none: its node waits. Nor does a call that waits for what
// a group around it held before the driver changed: nobody has asked for its run since.
func (s *seen) under() (paths []string) {
	for _, a := range s.live { // any order: they are counted
		paths = append(paths, a.Node)
	}
	for node, ids := range s.calls { // any order: they are counted
		for _, id := range ids {
			if s.taken[id] == 0 && s.sent[id] && !strings.HasPrefix(s.asked[id], node+" heal ") {
				paths = append(paths, node)
			}
		}
	}
	return paths
}

// watch notes what happens in a run.
func (c *simulation) watch(run string, events []event.Event, r *event.Reaction, replayed bool) {
	s := c.runs[run]
	if events[0].RunStarted != nil { // the past is told again
		maps.DeleteFunc(c.askedAt, func(at string, _ int) bool { return strings.HasPrefix(at, run+" ") })
		s.j, s.taken, s.held = newJourney(), map[string]int{}, events[0].RunStarted.Held
	}
	s.j.watch(events, r)
	c.noteGiven(run, r)
	if wrong := s.j.noteCancels(events, r); wrong != "" {
		c.t.Errorf("seed %d: %s", c.seed, wrong)
	}
	s.spends.watch(c, s.name, events, r)
	s.numbers.watch(events, r)
	for _, ev := range events {
		if ev.DriverChanged != nil {
			clear(s.sent)
		}
		if f := ev.AttemptFinished; f != nil {
			if f.Outcome == event.Refused && f.Error.Reason == event.ReasonBreaker && !replayed {
				c.broken++
			}
			delete(s.live, f.Ticket)
			if f.Outcome == event.OK {
				c.acked[attemptID(run, f.Node, f.Gate, f.Compensate, f.Attempt)] = true
			}
		}
		if x := ev.External; x != nil && strings.HasPrefix(x.Reason, "it would never have its turn") {
			if s.turnless = true; !replayed {
				c.crowd.circles++
			}
		}
		if f := ev.ChildFinished; f != nil {
			if !replayed && f.Error != nil && f.Error.Reason == event.ReasonGroup {
				c.crowd.circles++
			}
			c.tookEnd(s, f)
		}
	}
	for _, cmd := range r.Commands {
		switch {
		case cmd.Ask != nil:
			c.asks(run, s, cmd.Ask)
		case cmd.StartChild != nil:
			c.calls(run, s, cmd.StartChild, replayed)
		case cmd.CancelChild != nil:
			// A run that starts later in the batch, behind a change of driver, is cancelled there again.
			if k := c.runs[cmd.CancelChild.Run]; k != nil && k.end == nil {
				k.unwanted = true
			}
		case cmd.End != nil:
			s.end = cmd.End
			for id, other := range c.runs { // any order: a host stops the called runs that live on
				if slices.Contains(c.above(id), run) {
					clear(other.live)
				}
			}
			before := replayed || events[0].RunStarted != nil || events[0].DriverChanged != nil // it may have come to its end before anybody asked
			behind := events[len(events)-1].External != nil                                     // a message that came before the cancel ended the run
			if s.unwanted && s.j.cancels == 0 && !before && !behind {
				c.t.Errorf("seed %d: run %q was to be cancelled and was not", c.seed, s.name)
			}
		}
	}
}

// calls takes in that a run asks for another one. It may ask again for the same until it has taken its end.
func (c *simulation) calls(run string, s *seen, k *event.StartChild, replayed bool) {
	what := k.Node + " " + k.Workflow + " " + string(value.Append(nil, map[string]any(k.Inputs)))
	was, before := s.asked[k.Run]
	s.sent[k.Run] = true
	switch {
	case before && was != what:
		c.t.Errorf("seed %d: %q asked for %s as %s", c.seed, s.name, what, was)
	case before && !replayed && s.taken[k.Run] > 0:
		c.t.Errorf("seed %d: %q asks for %s, whose end it has taken", c.seed, s.name, what)
	case !before && c.runs[k.Run] != nil:
		c.t.Errorf("seed %d: the run that %q asks for as %s is another one's, too", c.seed, s.name, what)
	case !before:
		s.asked[k.Run], s.calls[k.Node] = what, append(s.calls[k.Node], k.Run)
		c.runs[k.Run] = newSeen(calledAs(s.name, k.Node, len(s.calls[k.Node])), c.program.Workflow(k.Workflow), run)
		c.bounds(s, k.Node, true)
	}
}

// tookEnd compares the end that a caller hears of with the one that was.
func (c *simulation) tookEnd(s *seen, f *event.ChildFinished) {
	if s.taken[f.Run]++; s.taken[f.Run] > 1 {
		c.t.Errorf("seed %d: %q took the end of %s %d times", c.seed, s.name, f.Node, s.taken[f.Run])
	}
	f, err := f.Whole() // long outputs lie beside the journal
	if err != nil {
		c.t.Fatal(err)
	}
	switch k := c.runs[f.Run]; {
	case k.end == nil && len(k.j.status) == 0 && (f.Status == event.Cancelled || f.Error != nil && f.Error.Reason == event.ReasonGroup): // it was never made
	case k.end == nil || ending(*k.end) != ending(event.End{Status: f.Status, Outputs: f.Outputs}):
		c.t.Errorf("seed %d: %q heard that %q ended %s, but its end is %+v", c.seed, s.name, k.name, f.Status, k.end)
	}
}

// outlived drives the runs to their end that their callers did not wait for. Only a second cancel leaves any.
func (c *simulation) outlived() {
	for _, id := range slices.Sorted(maps.Keys(c.runs)) {
		s := c.runs[id]
		if s.end != nil || len(s.j.status) == 0 {
			continue
		}
		hurried := false
		for up := s.caller; up != ""; up = c.runs[up].caller {
			hurried = hurried || c.runs[up].j.cancels > 1
		}
		if !hurried {
			c.t.Errorf("seed %d: run %q is left behind", c.seed, s.name)
		}
		if _, err := c.drive(id, nil); err != nil {
			c.t.Errorf("seed %d: %q, left behind: %v", c.seed, s.name, err)
		}
	}
}

// endings are the ends of all runs by name.
func (c *simulation) endings() map[string]string {
	all := map[string]string{}
	for _, s := range c.runs { // any order: it fills a map
		if s.end != nil {
			all[s.name] = ending(*s.end)
		}
	}
	return all
}
