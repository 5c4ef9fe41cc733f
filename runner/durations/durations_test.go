package durations

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/runner/event"
)

// watched is a run that a test tells in lines.
type watched struct {
	Tally
	now event.Time
}

func (w *watched) begins(path, name string) {
	w.Add(nil, &event.Reaction{Transitions: []event.Transition{
		{Node: path, Name: name, Kind: "step", From: event.Pending, To: event.Running}}})
}

func (w *watched) attempt(path string, took time.Duration) {
	w.now = w.now.Add(took)
	w.Add([]event.Event{{At: w.now, AttemptFinished: &event.AttemptFinished{Node: path, StartedAt: w.now.Add(-took)}}}, &event.Reaction{})
}

func (w *watched) ends(path, name, kind string, to event.Status, took time.Duration) {
	w.Add(nil, &event.Reaction{Transitions: []event.Transition{{Node: path, Name: name, Kind: kind, From: event.Running, To: to,
		Result: &event.Result{StartedAt: 1, FinishedAt: event.Time(1).Add(took)}}}})
}

// A step takes what its attempts and gates took, and not what it waited between them; a wait takes its time; of instances
// and iterations the one in the middle counts, and groups are only counted.
func TestTallyKnowsExecutions(t *testing.T) {
	w := &watched{now: 1}
	w.begins("a", "a")
	w.attempt("a", time.Second)
	w.attempt("a", 2*time.Second)
	w.ends("a", "a", "step", event.Succeeded, time.Hour)
	w.attempt("a", time.Hour) // late
	w.begins("pause", "pause")
	w.ends("pause", "pause", "step", event.Succeeded, time.Minute)
	w.ends("computed", "computed", "step", event.Succeeded, 0)
	w.begins("bad", "bad")
	w.attempt("bad", time.Second)
	w.ends("bad", "bad", "step", event.FailedS, time.Second)
	for i := range 3 {
		group := fmt.Sprintf("g[%d]", i)
		for j := range 2 {
			path := fmt.Sprintf("%s/in/i%d", group, j+1)
			w.begins(path, "in")
			w.attempt(path, time.Duration(i+1)*time.Second)
			w.ends(path, "in", "step", event.Succeeded, time.Hour)
		}
		w.ends(group+"/in", "in", "step", event.Succeeded, time.Hour)
		w.ends(group, "g", "sequence", event.Succeeded, time.Hour)
	}
	w.ends("g", "g", "sequence", event.Succeeded, time.Hour)
	want := Expected{US: map[string]int64{"a": 3e6, "pause": 60e6, "in": 2e6}, Times: map[string]int{"in": 6, "g": 3}}
	if diff := cmp.Diff(want, w.Took()); diff != "" {
		t.Errorf("the run took (-want +have)\n%s", diff)
	}
	if len(w.live)+len(w.whole) != 0 {
		t.Errorf("the tally still holds %v and %v", w.live, w.whole)
	}
}

func TestTallyIsBounded(t *testing.T) {
	w := &watched{now: 1}
	for i := range 100_000 {
		path := fmt.Sprintf("s[%d]", i)
		w.begins(path, "s")
		w.attempt(path, time.Duration(i)*time.Millisecond)
		w.ends(path, "s", "step", event.Succeeded, 0)
	}
	if n := len(w.nodes["s"].samples); n > MaxSamples {
		t.Errorf("%d samples are kept", n)
	}
	if us := w.Took().US["s"]; us < 45e6 || us > 55e6 {
		t.Errorf("the median of 0 to 100 s is said to be %d µs", us)
	}
	for i := range MaxNodes {
		if path := fmt.Sprint("n", i); w.nodes != nil {
			w.begins(path, path)
			w.attempt(path, time.Second)
			w.ends(path, path, "step", event.Succeeded, 0)
		}
	}
	if took := w.Took(); len(took.US) != 0 || w.nodes != nil {
		t.Errorf("of %d nodes %d are kept", MaxNodes+1, len(took.US))
	}
}

// decoded goes through the bytes, as every run does.
func decoded(h *History) (*History, Expected) {
	whole, expected := h.Encode()
	return DecodeHistory(whole), DecodeExpected(expected)
}

func TestHistoryIsTheMedianOfTheLastRuns(t *testing.T) {
	h, x := &History{}, Expected{}
	for i := range 2 * MaxRuns {
		us := map[string]int64{"s": int64(i) * 1000}
		times := map[string]int{"s": i + 2}
		if i == 0 {
			us["gone"] = 5
		}
		h.Add(Expected{us, times})
		h, x = decoded(h)
		if _, known := x.US["gone"]; known != (i < MaxRuns) {
			t.Errorf("after %d runs it is %t that the first is remembered", i+1, known)
		}
	}
	if us := x.US["s"]; us < 29_800 || us > 30_200 || x.Times["s"] != 2*MaxRuns+1 {
		t.Errorf("of runs of 20 to 39 ms %d µs and %d executions are expected", us, x.Times["s"])
	}
	h.Add(Expected{US: map[string]int64{"s": 1}})
	if _, x = decoded(h); len(x.Times) != 0 {
		t.Errorf("a step that runs once now is expected %d times", x.Times["s"])
	}
}

func TestDurationsAreKeptToAPercent(t *testing.T) {
	for us := int64(1); us < 1e15; us = us*3/2 + 1 {
		if have := long(short(us)); float64(have) < 0.99*float64(us) || float64(have) > 1.01*float64(us) {
			t.Errorf("%d µs are kept as %d", us, have)
		}
	}
	if long(short(0)) != 0 || long(short(1<<62)) <= 0 || long(0x7f7f) <= 0 || long(0xffff) < 0 {
		t.Error("the ends are wrong")
	}
}

func FuzzDecode(f *testing.F) {
	h := &History{}
	h.Add(Expected{US: map[string]int64{"a": 1, "b": 2e6}, Times: map[string]int{"b": 3}})
	whole, expected := h.Encode()
	f.Add(whole)
	f.Add(expected)
	f.Fuzz(func(t *testing.T, b []byte) {
		DecodeExpected(b)
		decoded(DecodeHistory(b))
	})
}

// What apply pays is expected/10000, what the end of a run pays is end/10000.
func BenchmarkDurations(b *testing.B) {
	h, took := &History{}, Expected{US: map[string]int64{}}
	for range MaxRuns {
		for i := range 10_000 {
			took.US[fmt.Sprint("step-", i)] = rand.Int64N(1e7)
		}
		h.Add(took)
	}
	whole, expected := h.Encode()
	b.Run("expected/10000", func(b *testing.B) {
		for b.Loop() {
			DecodeExpected(expected)
		}
		b.ReportMetric(float64(len(expected))/1024, "KiB")
	})
	b.Run("end/10000", func(b *testing.B) {
		for b.Loop() {
			h := DecodeHistory(whole)
			h.Add(took)
			h.Encode()
		}
		b.ReportMetric(float64(len(whole))/1024, "KiB")
	})
}
