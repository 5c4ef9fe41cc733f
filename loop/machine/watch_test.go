package machine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

const tracked = team + `
loop "l" {
  agents = [pool.team]
  source "dispatch" {}
  source "backlog" {
    from = "http"
    url  = "http://127.0.0.1/items"
  }
  handle {
    workflow = workflow.do
    with     = { id = item.id, worker = worker }
  }
}
`

// tracker is a world with a list of items elsewhere.
type tracker struct {
	*office
	items []event.Item
	down  bool
	keeps bool // it lists its items whatever it is told
	looks []event.Time
}

func newTracker(t *testing.T) *tracker {
	x := &tracker{office: newOffice(t, tracked)}
	x.host.Close()
	x.o.World = x
	x.host = sim.New(x.store, x.o)
	return x
}

// Attempt implements sim.World.
func (x *tracker) Attempt(a event.Attempt, r *rand.Rand) (event.AttemptFinished, time.Duration) {
	if a.Source == nil {
		return x.office.Attempt(a, r)
	}
	f := event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK}
	if x.down {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonHTTP, Message: "no answer"}
		return f, time.Second
	}
	if a.Source.Verb != event.SourceList {
		closed := a.Source.Verb == event.SourceReport && a.Source.Outcome.Status == event.ItemClosed
		if closed && !x.keeps {
			x.items = nil
		}
		f.Output = map[string]any{"ok": true, "closed": closed, "gone": closed && !x.keeps}
		return f, time.Second
	}
	x.looks = append(x.looks, x.store.Now())
	list := []any{}
	for i := range x.items {
		list = append(list, x.items[i].Object())
	}
	f.Output = map[string]any{"items": list}
	return f, time.Second
}

func (x *tracker) at(at event.Time, do func()) {
	x.host.Schedule(sim.Moment{At: at, Do: func() error { do(); return nil }})
}

func (x *tracker) stop() {
	x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "l"}})
}

// A source elsewhere that has nothing is looked at all day, at the pace of the loop, and next to nothing is journaled. What appears there is
// taken after idle_max, and what is handed in, at once.
func TestIdleLoopWithSourceElsewhereIsQuiet(t *testing.T) {
	x := newTracker(t)
	x.start(event.LoopStart{})
	begin, quiet, looks := x.store.Now(), uint64(0), 0
	handed, listed := begin.Add(23*time.Hour), begin.Add(23*time.Hour+30*time.Minute)
	x.at(handed, func() {
		quiet, looks = x.seq, len(x.looks)
		x.dispatch(event.Item{ID: "a", Title: "a"})
	})
	x.at(listed, func() { x.items = []event.Item{{ID: "b", Title: "b"}} })
	late := map[string]time.Duration{}
	x.work = func(a event.Attempt) (event.AttemptFinished, time.Duration) {
		if late[a.Agent.Task] = x.store.Now().Sub(handed); a.Agent.Task == "b" {
			late["b"] = x.store.Now().Sub(listed)
		}
		return event.AttemptFinished{Outcome: event.OK}, time.Minute
	}
	x.at(listed.Add(20*time.Minute), x.stop)
	end := x.drive()
	if quiet > 50 || looks < 200 || looks > 400 {
		t.Errorf("%d events and %d looks in 23 idle hours", quiet, looks)
	}
	if a, known := late["a"]; !known || a > time.Second {
		t.Errorf("a was taken after %s, %v", a, known)
	}
	if b, known := late["b"]; !known || b > 6*time.Minute {
		t.Errorf("b was taken after %s, %v", b, known)
	}
	if end.Status != event.Succeeded || end.Outputs["closed"] != 2.0 {
		t.Error(end, strings.Join(x.lines, "\n"))
	}
	t.Logf("%d events and %d looks in 23 idle hours", quiet, looks)
}

// A source that cannot be asked is told of once, for as long as that lasts, and journals next to nothing. Its items are taken when it answers
// again.
func TestSourceElsewhereIsDownForADay(t *testing.T) {
	x := newTracker(t)
	x.down = true
	x.start(event.LoopStart{})
	begin, quiet := x.store.Now(), uint64(0)
	x.at(begin.Add(20*time.Hour), func() {
		quiet, x.down, x.items = x.seq, false, []event.Item{{ID: "a", Title: "a"}}
	})
	x.at(begin.Add(21*time.Hour), x.stop)
	end := x.drive()
	if quiet > 50 || len(x.calls) != 1 || end.Outputs["closed"] != 1.0 {
		t.Errorf("%d events, calls %v, %v", quiet, x.calls, end.Outputs)
	}
	if text := strings.Join(x.lines, "\n"); strings.Count(text, "source backlog cannot be asked") != 1 {
		t.Error(text)
	}
}

// An item that is opened again at its source is done again, also where nothing tells it from the item that was done.
func TestItemThatIsOpenedAgain(t *testing.T) {
	for _, done := range []bool{true, false} {
		x := newTracker(t)
		x.start(event.LoopStart{})
		x.keeps = !done
		begin := x.store.Now()
		x.items = []event.Item{{ID: "a", Title: "a"}}
		x.at(begin.Add(time.Hour), func() { x.items = []event.Item{{ID: "a", Title: "a"}} })
		x.at(begin.Add(2*time.Hour), x.stop)
		want := map[bool]float64{true: 2, false: 1}[done]
		if end := x.drive(); end.Outputs["closed"] != want || end.Outputs["taken"] != want {
			t.Errorf("%v: %v", done, end.Outputs)
		}
	}
}

// A source is asked as often as ever after the clock was set back.
func TestSourceElsewhereIsWatchedThoughTheClockWasSetBack(t *testing.T) {
	x := newTracker(t)
	x.start(event.LoopStart{})
	begin := x.store.Now()
	x.host.Schedule(sim.Moment{At: begin.Add(time.Hour), Do: func() error {
		x.host.Jump(-10 * time.Hour)
		x.items = []event.Item{{ID: "a", Title: "a"}}
		return nil
	}})
	x.at(begin.Add(time.Hour+20*time.Minute), x.stop)
	if end := x.drive(); end.Outputs["closed"] != 1.0 {
		t.Error(end.Outputs)
	}
}

// Nobody looks at a source while nobody could take anything of it.
func TestPausedLoopDoesNotLook(t *testing.T) {
	x := newTracker(t)
	x.start(event.LoopStart{})
	begin := x.store.Now()
	x.at(begin.Add(time.Hour), func() {
		x.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopPause, Loop: "l", For: 10 * time.Hour}})
	})
	x.at(begin.Add(12*time.Hour), x.stop)
	x.drive()
	last := event.Time(0)
	for _, at := range x.looks {
		if after := at.Sub(begin); after > time.Hour+time.Minute && after < 11*time.Hour {
			t.Errorf("the source was asked %s after the begin", after)
		}
		last = at
	}
	if last.Sub(begin) < 11*time.Hour {
		t.Errorf("after the pause nobody has looked, but %s after the begin", last.Sub(begin))
	}
}

// The driver dies at each point of a loop that watches: the item that appears later is done once.
func TestWatchSurvivesCrashes(t *testing.T) {
	for at := 1; at < 400; at++ {
		x := newTracker(t)
		x.start(event.LoopStart{})
		begin := x.store.Now()
		x.o.Faults = sim.Faults{CrashAt: at}
		x.o.Moments = []sim.Moment{
			{At: begin.Add(7 * time.Hour), Do: func() error { x.items = []event.Item{{ID: "a", Title: "a"}}; return nil }},
			{At: begin.Add(8 * time.Hour), Do: func() error { x.stop(); return nil }},
		}
		moments := x.o.Moments
		x.host.Close()
		x.host = sim.New(x.store, x.o)
		end, err := x.host.Drive(t.Context(), x.run, nil)
		crashed := err == sim.ErrCrashed
		if crashed {
			for _, m := range moments {
				if m.At > x.store.Now() {
					x.host.Schedule(m)
				}
			}
			end = x.drive()
		} else if err != nil {
			t.Fatal(at, err)
		}
		if end.Outputs["closed"] != 1.0 || end.Outputs["taken"] != 1.0 {
			t.Fatalf("crash %d: %v\n%s", at, end.Outputs, strings.Join(x.lines, "\n"))
		}
		if !crashed {
			t.Log(fmt.Sprint(at-1, " points"))
			if at < 10 {
				t.Errorf("only %d points", at)
			}
			return
		}
	}
	t.Error("it never ends")
}
