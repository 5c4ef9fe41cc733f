package sim_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// crowd is what a simulation knows of several runs that one process drives and parks. Most of them are of one group.
type crowd struct {
	runs []string // at the top, in the order of their starts; the first is root
	busy engine.WhenBusy
	r    *rand.Rand // nil where no run is parked
	ends map[string]event.End
	// holder is the run that works in each line. A process that has died has no turn.
	holder map[engine.Line]string
	parked int // times that a run was parked
	turns  int // times that a run began after it had waited for its turn
	// all tells that DriveAll drives the runs. Then none is parked, and the drivers of runs die alone, too: kills times.
	all   bool
	kills int
	// apart says that called runs take no turns, because flowrun would refuse the program if they did.
	apart bool
	// circles counts the runs that were refused or cancelled because their turns would never have come. That depends on time.
	circles int
}

// alone is a crowd of one run, which is never parked.
func alone() crowd {
	return crowd{runs: []string{root}, ends: map[string]event.End{}, holder: map[engine.Line]string{}}
}

// gather makes most simulations one of up to three runs, which are parked where nothing of them is in flight.
func (c *simulation) gather() {
	c.crowd = alone()
	if c.seed%4 == 0 {
		return
	}
	r := rand.New(rand.NewPCG(c.seed, 4))
	c.crowd.r = r
	c.crowd.busy = []engine.WhenBusy{"", engine.Queue, engine.Queue, engine.Queue, engine.Skip, engine.CancelPrevious}[r.IntN(6)]
	c.crowd.all = c.seed%7 == 3
	c.crowd.apart = c.turnsWait()
	for i := range r.IntN(3) {
		c.crowd.runs = append(c.crowd.runs, fmt.Sprintf("simulated10%d", i))
	}
}

var calledWorkflow = regexp.MustCompile(`(?m)^workflow "(k\d+|heal)" \{$`)

// turnsWait reports whether a called run that takes turns could wait forever beside what holds a quota (F0142).
func (c *simulation) turnsWait() bool {
	text := calledWorkflow.ReplaceAllString(c.source, "$0\n  concurrency { group = \"g\" }")
	_, diags := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(text)}}, "w.flow.hcl", dsl.Options{})
	return slices.ContainsFunc(diags, func(d diag.Diagnostic) bool {
		return d.Code == "F0142" && strings.Contains(d.Summary, "could wait for each other")
	})
}

// group is the group of a run: most runs at the top are of one, and called runs of that, of another, or of none.
func (c *simulation) group(_ []byte, first event.RunStarted) (engine.Group, error) {
	if c.crowd.r == nil || first.RetryOf != "" || len(first.Held) > 0 { // whatever holds a quota calls nothing that takes turns
		return engine.Group{}, nil
	}
	if first.Parent != "" && c.crowd.apart {
		return engine.Group{}, nil
	}
	h := fnv.New64a()
	of := first.Workflow
	if first.Parent == "" {
		of = first.Run
	}
	fmt.Fprint(h, c.seed, of)
	names, busy := []string{"g", "g", "g", ""}, c.crowd.busy
	if first.Parent != "" {
		names = []string{"g", "h", "", ""}
		if c.untimed { // which of them are cancelled depends on time
			busy = engine.Queue
		}
	}
	return engine.Group{Name: names[h.Sum64()>>20%4], WhenBusy: busy}, nil
}

// startCrowd makes the runs of a simulation.
func (c *simulation) startCrowd(t *testing.T) {
	t.Helper()
	for i, run := range c.crowd.runs {
		name := ""
		if i > 0 {
			name = fmt.Sprint("crowd", i)
		}
		c.runs[run] = newSeen(name, c.program.Workflow("w"), "")
		if _, err := c.engine.Start(context.Background(), engine.Start{
			Header:     journal.Header{Behaviour: ir.Behaviour, Definition: c.program.Hash(), Workflow: "w", Run: run},
			Definition: c.program.Canonical(), First: c.first(),
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// died notes the death of a process.
func (c *simulation) died() {
	clear(c.crowd.holder)
	for _, s := range c.runs { // any order: each is emptied
		s.live = map[uint64]event.Attempt{}
	}
}

// driveCrowd drives runs to their ends as a supervisor does, in as many lives as it takes. Where nothing happens, time passes.
func (c *simulation) driveCrowd(w func(run string) engine.Watcher) error {
	ctx, r := context.Background(), c.crowd.r
	c.died()
	left := slices.Clone(c.crowd.runs)
	for range sim.MaxEvents {
		if len(left) == 0 && len(c.crowd.ends) == len(c.crowd.runs) {
			return nil
		}
		var next event.Time
		var err error
		if len(left) > 0 {
			run := left[0]
			left = left[1:]
			var end event.End
			if end, err = c.engine.DriveUntilParked(ctx, run, w(run)); err == nil {
				c.crowd.ends[run] = end
			} else if errors.Is(err, engine.ErrParked) {
				c.crowd.parked++
				err = nil
			}
		} else if left, next, err = c.engine.Wakeable(ctx, 1+r.IntN(3)); err == nil && len(left) == 0 {
			if came, err := c.engine.NextMoment(); came || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			if next == 0 {
				return errors.New("all runs wait, and for nothing")
			}
			c.store.Pass(max(next.Sub(c.store.Now()), 0))
		}
		switch {
		case errors.Is(err, sim.ErrCrashed):
			c.died()
			left = slices.DeleteFunc(slices.Clone(c.crowd.runs), func(run string) bool { _, ended := c.crowd.ends[run]; return ended })
			r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		case err != nil:
			return err
		}
	}
	return errors.New("the runs never end")
}

// driveAll drives runs to their ends as one process that parks none, in as many lives as it takes. Some drivers die alone or stand still.
func (c *simulation) driveAll() error {
	ctx, r := context.Background(), c.crowd.r
	c.died()
	for _, run := range c.crowd.runs {
		c.engine.Add(run)
	}
	for range 4 {
		run, how, lasts := c.crowd.runs[r.IntN(len(c.crowd.runs))], r.IntN(4), time.Duration(r.Int64N(int64(10*time.Minute)))
		c.engine.Schedule(sim.Moment{At: c.store.After(time.Duration(r.Int64N(int64(5 * time.Minute)))), Do: func() error {
			switch how {
			case 0:
				c.engine.Halt(run, lasts)
			case 1:
				lasts = 0
				fallthrough
			case 2:
				c.diedAlone(run)
				c.engine.Kill(run, lasts)
			case 3:
				if !c.untimed {
					return c.engine.Cancel(ctx, run, "the simulation says so")
				}
			}
			return nil
		}})
	}
	for range sim.MaxEvents {
		err := c.engine.DriveAll(ctx)
		if errors.Is(err, sim.ErrCrashed) {
			c.died()
			continue
		}
		for _, run := range c.crowd.runs {
			switch end := c.runs[run].end; {
			case err != nil:
			case end == nil:
				err = fmt.Errorf("run %s has not ended", run)
			default:
				c.crowd.ends[run] = *end
			}
		}
		return err
	}
	return errors.New("the runs never end")
}

// diedAlone notes the death of the driver of a run, and of those that the run calls.
func (c *simulation) diedAlone(run string) {
	c.crowd.kills++
	for line, holder := range c.crowd.holder { // any order: each for itself
		if slices.Contains(c.above(holder), run) {
			delete(c.crowd.holder, line)
		}
	}
	for id, s := range c.runs { // any order: each is emptied
		if slices.Contains(c.above(id), run) {
			s.live = map[uint64]event.Attempt{}
		}
	}
}

// above is a run with its callers, the nearest first.
func (c *simulation) above(run string) (list []string) {
	for ; run != ""; run = c.runs[run].caller {
		list = append(list, run)
	}
	return list
}

// groupOf is the name of a run's group.
func (c *simulation) groupOf(run string) string {
	s := c.runs[run]
	first := event.RunStarted{Run: run, Workflow: s.w.Name, Parent: s.caller, Held: s.held}
	if run == again {
		first.RetryOf = root
	}
	g, _ := c.group(nil, first) // it never fails
	return g.Name
}

// takesTurn checks that no other run of its groups works while a run does, or a run that it calls.
func (c *simulation) takesTurn(run string) {
	list := c.above(run)
	for i, id := range list {
		line := engine.Line{Group: c.groupOf(id)}
		if line.Group == "" || c.runs[id].turnless { // what it has begun is undone, and finally runs: to wait for the turn would be to wait forever
			continue
		}
		for _, up := range list[i+1:] {
			if c.groupOf(up) == line.Group {
				line.Shares = up
				break
			}
		}
		holder := c.crowd.holder[line]
		if c.crowd.holder[line] = id; holder == id {
			continue
		}
		if holder != "" && c.runs[holder].end == nil {
			c.t.Errorf("seed %d: %q works while %q has the turn in %v", c.seed, c.runs[id].name, c.runs[holder].name, line)
		}
		if holder != "" {
			c.crowd.turns++
		}
		if before := slices.Index(c.crowd.runs, id); before > 0 && c.store.Struck().Crashes+c.crowd.kills == 0 {
			for _, o := range c.crowd.runs[:before] {
				if c.groupOf(o) == line.Group && c.runs[o].end == nil {
					c.t.Errorf("seed %d: %q has its turn before %q, which stands before it", c.seed, c.runs[id].name, c.runs[o].name)
				}
			}
		}
	}
}
