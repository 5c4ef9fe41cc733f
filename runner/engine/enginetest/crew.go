package enginetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Group is the group of a run of the suite: a run at the top says in the variables "group" and "busy" where it belongs, and a called run
// in the variable that has the name of its workflow.
func Group(_ []byte, first event.RunStarted) (engine.Group, error) {
	name, _ := first.Vars["group"].(string)
	busy, _ := first.Vars["busy"].(string)
	if first.Parent != "" {
		name, _ = first.Vars[first.Workflow].(string)
	}
	return engine.Group{Name: name, WhenBusy: engine.WhenBusy(busy)}, nil
}

// crew drives the runs of one host in one goroutine: it lets go of the runs that the host parks, and drives those again that the host wakes.
// It lets time pass only while no run is driven.
type crew struct {
	t     *testing.T
	store Store
	Host
	ends map[string]event.Status // of the runs that have ended
	left []string                // runs that nobody drives and the host does not wake
	fail error                   // why the host cannot go on
	seen []string                // runs in the order in which they begin here, and their ends
}

func newCrew(t *testing.T, s Store, w *witness) *crew {
	return &crew{t: t, store: s, Host: s.Open(t, Factory, w), ends: map[string]event.Status{}}
}

// start makes a run of a group.
func (c *crew) start(p Program, group, busy string) string {
	c.t.Helper()
	run, err := c.startAs(p, map[string]any{"group": group, "busy": busy})
	if err != nil {
		c.t.Fatal(err)
	}
	return run
}

// startAs makes a run with variables, and has it driven.
func (c *crew) startAs(p Program, vars map[string]any) (string, error) {
	s := p.Start()
	s.First.Vars = vars
	run, err := c.Host.Start(context.Background(), s)
	if err == nil {
		c.left = append(c.left, run)
	}
	return run, err
}

// drive drives a run until it is parked or has ended.
func (c *crew) drive(run string) {
	end, err := c.DriveUntilParked(context.Background(), run, func(list []event.Event, _ *event.Reaction, replayed bool) {
		if !replayed && !slices.Contains(c.seen, run) {
			c.seen = append(c.seen, run)
		}
	})
	switch {
	case err == nil:
		c.ends[run] = end.Status
		c.seen = append(c.seen, "end of "+run)
	case !errors.Is(err, engine.ErrParked):
		c.left, c.fail = append(c.left, run), err
	}
}

// work drives all runs that can be driven without that time passes. It returns when the next timer is due, 0 if none is set.
func (c *crew) work() (next event.Time) {
	c.t.Helper()
	for range 10_000 {
		runs := c.left
		c.left = nil
		if len(runs) == 0 && c.fail == nil {
			runs, next, c.fail = c.Wakeable(context.Background(), 100)
		}
		if c.fail != nil {
			c.left = append(c.left, runs...)
			return 0
		}
		if len(runs) == 0 {
			return next
		}
		for i, run := range runs {
			if c.drive(run); c.fail != nil {
				c.left = append(c.left, runs[i+1:]...)
				return 0
			}
		}
	}
	c.t.Fatal("the host wakes runs, and drives them in vain")
	return 0
}

// workFor works until runs have ended, and lets time pass where nothing else happens. It reports whether the host lived.
func (c *crew) workFor(runs ...string) (lived bool) {
	c.t.Helper()
	for range 10_000 {
		next := c.work()
		if c.fail != nil {
			if !errors.Is(c.fail, ErrCrashed) {
				c.t.Fatal(c.fail)
			}
			return false
		}
		if !slices.ContainsFunc(runs, func(run string) bool { return c.ends[run] == "" }) {
			return true
		}
		if next == 0 {
			c.t.Fatalf("the runs %v wait for nothing; %v have ended", runs, c.ends)
		}
		c.store.Pass(time.Second)
	}
	c.t.Fatal("the runs never end")
	return false
}

// mustWork is workFor on a host that lives, for runs that end alike.
func (c *crew) mustWork(want event.Status, runs ...string) {
	c.t.Helper()
	if !c.workFor(runs...) {
		c.t.Fatal(c.fail)
	}
	for _, run := range runs {
		if c.ends[run] != want {
			c.t.Errorf("run %s ended %s, want %s", run, c.ends[run], want)
		}
	}
}

// takeOver is another crew on the same store, which drives the runs that have not ended.
func (c *crew) takeOver(w *witness, runs ...string) *crew {
	next := newCrew(c.t, c.store, w)
	for _, run := range runs {
		if c.ends[run] == "" {
			next.left = append(next.left, run)
		}
	}
	return next
}
