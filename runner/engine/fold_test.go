package engine_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// newFold is a fold of a program of the suite, with work done slice units at a time.
func newFold(t testing.TB, p enginetest.Program, factory engine.Factory, slice int) *engine.Fold {
	t.Helper()
	s := p.Start()
	s.Header.Run, s.Header.Created = "aaaaaaaaaaaa", 1
	m, err := factory(s.Header, s.Definition)
	if err != nil {
		t.Fatal(err)
	}
	f := engine.NewFold(s.Header, m)
	f.SetSlice(slice)
	return f
}

// play feeds a program all its answers at once, a batch at a time, until it has ended, and returns the batches.
func play(t testing.TB, f *engine.Fold) (batches []journal.Batch) {
	t.Helper()
	now, queue := event.Time(1000), []event.Event{{RunStarted: &event.RunStarted{Run: "aaaaaaaaaaaa"}}}
	var out event.Reaction
	for f.End() == nil {
		b, err := f.Feed(now, queue, &out)
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
		queue = slices.Clone(queue[b.Count:])
		for _, c := range out.Commands {
			if a := c.Start; a != nil {
				queue = append(queue, event.Event{AttemptFinished: &event.AttemptFinished{Ticket: a.Ticket, Outcome: event.OK}})
			}
		}
		if len(queue) == 0 && f.End() == nil {
			timer := f.Timers()[0]
			now = timer.Due
			queue = append(queue, event.Event{TimerFired: &event.TimerFired{Timer: timer.Timer}})
		}
	}
	return batches
}

// mixed has attempts beside each other, and timers.
func mixed() enginetest.Program {
	p := enginetest.Fan(20, 5)
	p.Tasks = append(p.Tasks, enginetest.Task{Name: "w", Wait: time.Second, After: []string{"t3"}}, enginetest.Task{Name: "z", After: []string{"w"}})
	return p
}

// TestSlicesLeaveNoTrace feeds the same events with the machine's work cut differently: the journals are the same bytes,
// and each replays under any other cut.
func TestSlicesLeaveNoTrace(t *testing.T) {
	want := play(t, newFold(t, mixed(), enginetest.Factory, engine.Slice))
	for _, slice := range []int{1, 2, 7, 1000} {
		if have := play(t, newFold(t, mixed(), enginetest.Factory, slice)); !reflect.DeepEqual(have, want) {
			t.Errorf("in slices of %d the journal differs", slice)
		}
		f := newFold(t, mixed(), enginetest.Factory, slice)
		var out event.Reaction
		for _, b := range want {
			if _, err := f.Replay(b, &out); err != nil {
				t.Errorf("in slices of %d: %v", slice, err)
			}
		}
		if f.End() == nil || f.End().Status != event.Succeeded || len(f.Timers()) != 0 {
			t.Errorf("after the replay the end is %v, timers %v", f.End(), f.Timers())
		}
	}
}

func TestReplayNamesWhereAMachineDiverged(t *testing.T) {
	batches := play(t, newFold(t, mixed(), enginetest.Factory, engine.Slice))
	_, err := newFold(t, mixed(), enginetest.Twisted, engine.Slice).Replay(batches[0], &event.Reaction{})
	var d *engine.Diverged
	if !errors.As(err, &d) || !errors.Is(err, engine.ErrDiverged) || d.Event != 1 || d.Want != batches[0].Digest || d.Have == d.Want {
		t.Errorf("got %v", err)
	}
}

func TestFeedGoesOnWhereTheReplayEnded(t *testing.T) {
	batches := play(t, newFold(t, enginetest.Chain(3), enginetest.Factory, engine.Slice))
	f := newFold(t, enginetest.Chain(3), enginetest.Factory, engine.Slice)
	var out event.Reaction
	for _, b := range batches[:2] {
		if _, err := f.Replay(b, &out); err != nil {
			t.Fatal(err)
		}
	}
	if f.Seq() != 2 || f.Last() != 1000 {
		t.Errorf("the fold stands at event %d, %d", f.Seq(), f.Last())
	}
	answer := event.Event{AttemptFinished: &event.AttemptFinished{Ticket: out.Commands[0].Start.Ticket, Outcome: event.OK}}
	b, err := f.Feed(1000, []event.Event{answer}, &out)
	if err != nil || !reflect.DeepEqual(b, batches[2]) {
		t.Errorf("the next batch is %+v, %v, want %+v", b, err, batches[2])
	}
}

func TestTimeNeverRunsBack(t *testing.T) {
	f := newFold(t, enginetest.Chain(3), enginetest.Factory, engine.Slice)
	var out event.Reaction
	for _, step := range []struct{ now, want event.Time }{{50, 50}, {40, 50}, {0, 50}, {60, 60}} {
		ev := []event.Event{{DriverChanged: &event.DriverChanged{}}}
		if f.Seq() == 0 {
			ev[0] = event.Event{RunStarted: &event.RunStarted{}}
		}
		if _, err := f.Feed(step.now, ev, &out); err != nil || ev[0].At != step.want || f.Last() != step.want {
			t.Errorf("at %d an event is stamped %d, %v, want %d", step.now, ev[0].At, err, step.want)
		}
	}
}

func TestFeedTakesWhatABatchHolds(t *testing.T) {
	f := newFold(t, enginetest.Fan(journal.MaxBatchEvents+5, 0), enginetest.Factory, engine.Slice)
	batches := play(t, f)
	var counts []int
	for _, b := range batches {
		counts = append(counts, b.Count)
	}
	if want := []int{1, journal.MaxBatchEvents, 5}; !reflect.DeepEqual(counts, want) {
		t.Errorf("the batches hold %v events, want %v", counts, want)
	}
}

func TestFeedTakesNothingAfterTheEnd(t *testing.T) {
	f := newFold(t, enginetest.Chain(1), enginetest.Factory, engine.Slice)
	var out event.Reaction
	if _, err := f.Feed(1, []event.Event{{RunStarted: &event.RunStarted{}}}, &out); err != nil {
		t.Fatal(err)
	}
	late := event.Event{External: &event.External{Kind: "cancel"}}
	b, err := f.Feed(1, []event.Event{{AttemptFinished: &event.AttemptFinished{Ticket: 1, Outcome: event.OK}}, late}, &out)
	if err != nil || b.Count != 1 || f.End() == nil {
		t.Errorf("the batch holds %d events, %v", b.Count, err)
	}
}

func TestTimersAreInOrder(t *testing.T) {
	f := newFold(t, enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Wait: 9}, {Name: "b", Wait: 5}, {Name: "c", Wait: 5}}}, enginetest.Factory, engine.Slice)
	var out event.Reaction
	f.Feed(0, []event.Event{{RunStarted: &event.RunStarted{}}}, &out)
	order := func() (s string) {
		for _, timer := range f.Timers() {
			s += timer.Node
		}
		return s
	}
	if order() != "bca" {
		t.Errorf("the timers are %s, want bca", order())
	}
	f.Feed(5, []event.Event{{TimerFired: &event.TimerFired{Timer: 2}}}, &out)
	if order() != "ca" {
		t.Errorf("after b has fired they are %s, want ca", order())
	}
	f.Feed(6, []event.Event{{External: &event.External{Kind: "cancel"}}}, &out)
	if order() != "" || f.End() == nil {
		t.Errorf("after a cancel they are %q", order())
	}
}

func TestAnEventThatCannotBeIsAnError(t *testing.T) {
	f := newFold(t, enginetest.Chain(1), enginetest.Factory, engine.Slice)
	if _, err := f.Feed(0, []event.Event{{TimerFired: &event.TimerFired{}}}, &event.Reaction{}); err == nil {
		t.Error("a run began with a timer")
	}
}
