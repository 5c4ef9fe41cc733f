package local

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

var (
	powerCases = flag.Int("local.power", 60, "how often TestPowerLoss cuts the power")
	syncCases  = flag.Int("local.syncs", 13, "how many of the first 50 syncs TestFailedSync has fail, each in a store of its own")
)

// shown is what a store has acknowledged: runs that were started, and events that a watcher saw.
type shown struct {
	mu     sync.Mutex
	runs   []string
	events map[string][]event.Event
	end    map[string]event.Status
}

func newShown() *shown {
	return &shown{events: map[string][]event.Event{}, end: map[string]event.Status{}}
}

func (s *shown) watcher(run string) engine.Watcher {
	return func(list []event.Event, _ *event.Reaction, replayed bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !replayed {
			s.events[run] = append(s.events[run], list...)
		}
	}
}

func (s *shown) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, list := range s.events {
		n += len(list)
	}
	return n
}

// busy opens a store on a disk, starts runs and drives them one after the other, until something fails.
func busy(dir string, o Options, s *shown) error {
	o.Factory = enginetest.Factory
	if o.Executor == nil {
		o.Executor = answersOK
	}
	e, err := Open(dir, o)
	if err != nil {
		return err
	}
	defer e.Close()
	for _, p := range []enginetest.Program{tasks(12), enginetest.Chain(8), enginetest.Fan(12, 4)} {
		run, err := e.Start(context.Background(), p.Start())
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.runs = append(s.runs, run)
		s.mu.Unlock()
		end, err := e.Drive(context.Background(), run, s.watcher(run))
		if err != nil {
			return err
		}
		s.end[run] = end.Status
	}
	return nil
}

// tasks is a chain of attempts that an executor answers.
func tasks(n int) (p enginetest.Program) {
	p = enginetest.Chain(n)
	for i := range p.Tasks {
		p.Tasks[i].Null = false
	}
	return p
}

// survived opens what is left of a store, and says what of the acknowledged is missing. Then it drives all runs to their
// ends; an acknowledged attempt that runs again is an error, too.
func survived(dir string, s *shown) (lost int, err error) {
	var mu sync.Mutex
	again := map[string]bool{}
	x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		mu.Lock()
		defer mu.Unlock()
		again[a.Node] = true
		return answersOK(ctx, a)
	})
	e, err := Open(dir, Options{Factory: enginetest.Factory, Executor: x})
	if err != nil {
		return 0, err
	}
	defer e.Close()
	for _, run := range s.runs {
		have, err := eventsOf(e, run)
		if errors.Is(err, engine.ErrNoRun) {
			lost += 1 + len(s.events[run])
			continue
		}
		if err != nil {
			return lost, err
		}
		there := map[uint64]event.Event{}
		for _, ev := range have {
			there[ev.Seq] = ev
		}
		clear(again)
		if _, err := e.Drive(context.Background(), run, nil); err != nil {
			return lost, err
		}
		for _, ev := range s.events[run] {
			if !reflect.DeepEqual(there[ev.Seq], ev) {
				lost++
			} else if f := ev.AttemptFinished; f != nil && again[f.Node] {
				return lost, fmt.Errorf("run %s: %s was acknowledged and ran again", run, f.Node)
			}
		}
	}
	return lost, nil
}

// cutPower runs a case: the power goes before the nth operation, and what is left is opened elsewhere.
func cutPower(t *testing.T, seed int64, n int, loose bool) (d *faultyDisk, s *shown, lost int, err error) {
	t.Helper()
	dir := t.TempDir() + "/store"
	d, s = newFaultyDisk(t, dir, seed), newShown()
	d.cutAt, d.half = n, seed%2 == 0
	o := Options{disk: d.option()}
	o.disk.loose = loose
	failure := busy(dir, o, s)
	if n > 0 && failure == nil && d.image == nil {
		t.Fatalf("seed %d: the power did not go before operation %d of %d", seed, n, d.ops)
	}
	if n == 0 {
		return d, s, 0, failure
	}
	left := t.TempDir() + "/store"
	restore(t, dir, left, d.image)
	lost, err = survived(left, s)
	return d, s, lost, err
}

// TestPowerLoss cuts the power at points all over the life of a store, its making included. Of what was not synced nothing
// reaches the disk, or a random half, by sectors. All that was acknowledged is there afterwards.
func TestPowerLoss(t *testing.T) {
	d, s, _, err := cutPower(t, 1, 0, false)
	if err != nil || len(s.end) != 3 {
		t.Fatalf("without a fault: %v, %v", s.end, err)
	}
	total, acknowledged := d.ops, 0
	for i := range *powerCases {
		n := 1 + i*total / *powerCases
		_, s, lost, err := cutPower(t, int64(i), n, false)
		if err != nil || lost > 0 {
			t.Errorf("seed %d, operation %d of %d: %d acknowledged events lost, %v", i, n, total, lost, err)
		}
		acknowledged += s.count()
	}
	t.Logf("%d power cuts over %d operations: %d events were acknowledged before them, 0 lost", *powerCases, total, acknowledged)
	if acknowledged < *powerCases {
		t.Errorf("%d events were acknowledged before the cuts: too few to lose any", acknowledged)
	}
}

// TestPowerLossFindsCommitsThatAreNotSynced is the control of the test above: with commits that are not synced it must fail.
func TestPowerLossFindsCommitsThatAreNotSynced(t *testing.T) {
	d, _, _, err := cutPower(t, 1, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	losses, noticed := 0, 0
	const cases = 20
	for i := range cases {
		_, _, lost, err := cutPower(t, int64(i), 1+i*d.ops/cases, true)
		if lost > 0 {
			losses++
		}
		if err != nil {
			noticed++
		}
	}
	if losses == 0 {
		t.Error("commits that were not synced lost nothing")
	}
	t.Logf("without syncs %d of %d power cuts lost acknowledged events, %d were noticed", losses, cases, noticed)
}
