package enginetest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

func startIsDurable(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, diamond())
	if len(run) != 12 || strings.ToLower(run) != run {
		t.Errorf("the run's id is %q, want 12 characters in lower case", run)
	}
	again := diamond().Start()
	again.Header.Run = run
	if same, err := h.Start(context.Background(), again); same != run || err != nil {
		t.Errorf("starting %s again gave %q, %v", run, same, err)
	}
	if other := start(t, h, diamond()); other == run {
		t.Error("two starts made one run")
	}
	h.Crash()
	h = s.Open(t, Factory, newWitness())
	if list := events(t, h, run); len(list) > 1 {
		t.Errorf("nobody has driven the run, and its journal holds %v", kinds(list))
	}
	header, _, _ := h.Journal(context.Background(), run, func(journal.Batch) error { return nil })
	if header.Created == 0 || header.Run != run {
		t.Errorf("the header is %+v", header)
	}
	mustEnd(t, s, h, run, event.Succeeded)
	if list := events(t, h, run); count(list, "run_started") != 1 || list[0].RunStarted == nil || list[0].RunStarted.Run != run {
		t.Errorf("the journal holds %v", kinds(list))
	}
}

func startBegins(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, diamond())
	h.Crash()
	if list := events(t, s.Open(t, Factory, newWitness()), run); len(list) != 1 || list[0].RunStarted == nil || list[0].RunStarted.Run != run {
		t.Fatalf("the journal holds %v", kinds(list))
	}
}

func runsToEnd(t *testing.T, s Store) {
	w := newWitness()
	h := s.Open(t, Factory, w)
	run := start(t, h, diamond())
	mustEnd(t, s, h, run, event.Succeeded)
	list := events(t, h, run)
	count := map[string]int{}
	for _, k := range kinds(list) {
		count[k]++
	}
	want := map[string]int{"run_started": 1, "attempt_finished": 5, "timer_fired": 1}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("the journal holds %v, want %v", count, want)
	}
	for _, ev := range list {
		if f := ev.AttemptFinished; f != nil && (f.StartedAt == 0 || f.StartedAt > ev.At) {
			t.Errorf("%s says that it started at %v, it ended at %v", f.Node, f.StartedAt, ev.At)
		}
	}
}

// startsOfOtherClocks has executors whose clocks differ from the host's say when their attempts started: not before they were asked for, and
// not after their ends.
func startsOfOtherClocks(t *testing.T, s Store) {
	starts := map[string]event.Time{"early": event.At(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)), "late": event.At(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))}
	h := s.Open(t, Factory, executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		f := executor.Answer(a)
		f.Outcome, f.StartedAt = event.OK, starts[a.Name]
		return f
	}))
	run := start(t, h, Program{Tasks: []Task{{Name: "early"}, {Name: "late"}}})
	mustEnd(t, s, h, run, event.Succeeded)
	list := events(t, h, run)
	for _, ev := range list[1:] {
		want := list[0].At
		if ev.AttemptFinished.Node == "late" {
			want = ev.At
		}
		if got := ev.AttemptFinished.StartedAt; got != want {
			t.Errorf("the attempt at %s, which ended at %v, started at %v; want %v", ev.AttemptFinished.Node, ev.At, got, want)
		}
	}
}

func shownIsDurable(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, diamond())
	var shown []event.Event
	w := func(list []event.Event, r *event.Reaction, replayed bool) {
		if replayed {
			t.Error("the first drive replays nothing")
		}
		shown = append(shown, list...)
		durable, err := read(h, run)
		if err != nil || len(durable) < len(shown) {
			t.Errorf("%d events were shown, %d are durable (%v)", len(shown), len(durable), err)
		}
	}
	if err := drive(context.Background(), s, h, run, w); err != nil {
		t.Fatal(err)
	}
	if list := events(t, h, run); !reflect.DeepEqual(kinds(list), kinds(shown)) {
		t.Errorf("shown was %v, the journal holds %v", kinds(shown), kinds(list))
	}
}

func endedIsReplayed(t *testing.T, s Store) {
	w := newWitness()
	h := s.Open(t, Factory, w)
	run := start(t, h, diamond())
	mustEnd(t, s, h, run, event.Succeeded)
	before, calls := events(t, h, run), w.count()
	var shown int
	end, err := h.Drive(context.Background(), run, func(list []event.Event, _ *event.Reaction, replayed bool) {
		if !replayed {
			t.Error("the past is shown as news")
		}
		shown += len(list)
	})
	if err != nil || end.Status != event.Succeeded {
		t.Fatal(end, err)
	}
	if after := events(t, h, run); len(after) != len(before) || shown != len(before) {
		t.Errorf("%d events before, %d after, %d shown", len(before), len(after), shown)
	}
	if w.count() != calls {
		t.Error("a replay executed something")
	}
}

func endsAtOnce(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, Program{})
	news := 0
	end, err := h.Drive(context.Background(), run, func(_ []event.Event, r *event.Reaction, replayed bool) {
		if !replayed {
			news += len(r.Transitions)
		}
	})
	if err != nil || end.Status != event.Succeeded || news == 0 {
		t.Fatalf("ended %v, %v, with %d transitions that are news", end, err, news)
	}
	mustEnd(t, s, h, run, event.Succeeded)
}

func unknownRuns(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	ctx := context.Background()
	_, drive := h.Drive(ctx, "nosuchrun234", nil)
	_, _, read := h.Journal(ctx, "nosuchrun234", func(journal.Batch) error { return nil })
	for name, err := range map[string]error{"Drive": drive, "Journal": read, "Cancel": h.Cancel(ctx, "nosuchrun234", "")} {
		if !errors.Is(err, engine.ErrNoRun) {
			t.Errorf("%s of an unknown run gives %v", name, err)
		}
	}
}

func timersFire(t *testing.T, s Store) {
	var p Program
	for _, d := range []int{5, 3, 3, 9, 1} {
		p.Tasks = append(p.Tasks, Task{Name: string(rune('a' + len(p.Tasks))), Wait: time.Duration(d) * time.Second})
	}
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, p)
	mustEnd(t, s, h, run, event.Succeeded)
	list := events(t, h, run)
	order := ""
	for _, ev := range list {
		if f := ev.TimerFired; f != nil {
			order += f.Node
			if wait := p.Tasks[f.Node[0]-'a'].Wait; ev.At.Sub(list[0].At) < wait {
				t.Errorf("timer %s fired after %v, it was set to %v", f.Node, ev.At.Sub(list[0].At), wait)
			}
		}
	}
	if order != "ebcad" {
		t.Errorf("the timers fired in the order %s, want ebcad", order)
	}
}

func backoff(t *testing.T, s Store) {
	w := newWitness()
	w.fails["a"] = 2
	h := s.Open(t, Factory, w)
	run := start(t, h, Program{Tasks: []Task{{Name: "a", Tries: 3}}})
	mustEnd(t, s, h, run, event.Succeeded)
	calls := w.took("a")
	if len(calls) != 3 || calls[2].Attempt != 3 || calls[2].Key != calls[0].Key {
		t.Errorf("the attempts were %+v", calls)
	}
	list := events(t, h, run)
	if d := list[len(list)-1].At.Sub(list[0].At); d < 2*time.Second {
		t.Errorf("two backoffs of a second took %v", d)
	}
}

func boundedBatches(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	const n = 2*journal.MaxBatchEvents + 1
	run := start(t, h, Fan(n, 0))
	mustEnd(t, s, h, run, event.Succeeded)
	if list := events(t, h, run); len(list) != n+1 {
		t.Errorf("%d events, want %d", len(list), n+1)
	}
	most := 0
	h.Journal(context.Background(), run, func(b journal.Batch) error { most = max(most, b.Count); return nil })
	if most != journal.MaxBatchEvents {
		t.Errorf("the largest batch holds %d events, want the bound, %d", most, journal.MaxBatchEvents)
	}
}

func boundedBytes(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	const size = limits.MaxInline - 8 // what is longer lies beside the journal
	p := Fan(3*journal.MaxBatchBytes/size, 0)
	for i := range p.Tasks {
		p.Tasks[i].With = strings.Repeat("x", size)
	}
	run := start(t, h, p)
	mustEnd(t, s, h, run, event.Succeeded)
	batches := 0
	h.Journal(context.Background(), run, func(b journal.Batch) error {
		batches++
		if len(b.Body) > journal.MaxBatchBytes+size+4096 {
			t.Errorf("a batch holds %d bytes", len(b.Body))
		}
		return nil
	})
	if batches < 3 {
		t.Errorf("all answers stand in one batch")
	}
}
