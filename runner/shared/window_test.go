package shared

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// TestWindowAgainstModel asks at random moments. The model remembers every start and counts them.
func TestWindowAgainstModel(t *testing.T) {
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 2))
		w := &Window{Name: "api", Requests: 1 + rng.IntN(5), Per: time.Duration(1 + rng.IntN(50))}
		rows, now, last, held := &Map{}, event.Time(1), event.Time(0), event.Time(0)
		var starts []event.Time
		for i := range 300 {
			now = max(1, now.Add(time.Duration(rng.IntN(12)-2))) // the clock goes back at times
			if rng.IntN(40) == 0 {
				until := now.Add(time.Duration(rng.IntN(30)))
				if err := w.Hold(rows, until); err != nil {
					t.Fatal(err)
				}
				held = max(held, until)
			}
			at := max(now, last)
			inSpan := func(from event.Time) (n int) {
				for _, s := range starts {
					if from.Sub(s) < w.Per {
						n++
					}
				}
				return n
			}
			next, err := w.Take(rows, now)
			if err != nil {
				t.Fatal(err)
			}
			free := at >= held && inSpan(at) < w.Requests
			if (next == 0) != free {
				t.Fatalf("seed %d, %d: at %d with the starts %v, held until %d, the answer is %d, want a start: %v", seed, i, at, starts, held, next, free)
			}
			if next == 0 {
				starts, last = append(starts, at), at
				continue
			}
			if next <= at || next < held || next > held && inSpan(next) >= w.Requests || next > held && inSpan(next-1) < w.Requests {
				t.Fatalf("seed %d, %d: at %d the moment is %d, and %d of %d are in the span then", seed, i, at, next, inSpan(next), w.Requests)
			}
		}
		for i, s := range starts { // never above the pace in any span
			if i >= w.Requests && s.Sub(starts[i-w.Requests]) < w.Per {
				t.Fatalf("seed %d: more than %d starts within %s: %v", seed, w.Requests, w.Per, starts)
			}
		}
		if n := len(rows.spaces[w.space()].keys); n > w.Requests+1 {
			t.Errorf("seed %d: %d rows for %d requests", seed, n, w.Requests)
		}
	}
}

// TestWindowOfAnotherSize has programs that say other numbers of requests, one after the other.
func TestWindowOfAnotherSize(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		rows, now := &Map{}, event.Time(1)
		var starts []event.Time
		for range 200 {
			now = now.Add(time.Duration(rng.IntN(6)))
			w := &Window{Name: "api", Requests: 1 + rng.IntN(4), Per: 20}
			next, err := w.Take(rows, now)
			if err != nil {
				t.Fatal(err)
			}
			if next != 0 {
				continue
			}
			if i := len(starts) - w.Requests; i >= 0 && now.Sub(starts[i]) < w.Per {
				t.Fatalf("seed %d: a start at %d after %v, with %d in %s", seed, now, starts, w.Requests, w.Per)
			}
			starts = append(starts, now)
		}
		if len(starts) < 10 {
			t.Errorf("seed %d: only %d starts", seed, len(starts))
		}
	}
}

// TestWindowCost counts the rows of one start.
func TestWindowCost(t *testing.T) {
	for _, requests := range []int{10, 1000} {
		c := &counted{Map: &Map{}}
		w := &Window{Name: "api", Requests: requests, Per: time.Duration(requests)}
		for i := range 2 * requests {
			c.reads, c.writes = 0, 0
			if next, err := w.Take(c, event.Time(1+i)); next != 0 || err != nil {
				t.Fatal(next, err)
			}
			if c.reads > 2 || c.writes > 2 {
				t.Fatalf("a start among %d reads %d rows and writes %d", requests, c.reads, c.writes)
			}
		}
	}
}

// TestWindowIsRefused has numbers that cannot be.
func TestWindowIsRefused(t *testing.T) {
	for _, w := range []Window{{Requests: 0, Per: 1}, {Requests: MaxWindow + 1, Per: 1}, {Requests: 1}} {
		if _, err := w.Take(&Map{}, 1); err == nil {
			t.Errorf("%+v is taken", w)
		}
	}
	w := Window{Name: "n", Requests: MaxWindow, Per: 1}
	if next, err := w.Take(&Map{}, 1); next != 0 || err != nil {
		t.Error(next, err)
	}
	rows := &Map{}
	rows.Put(w.space(), ringKey, []byte("no JSON"))
	if _, err := w.Take(rows, 1); fmt.Sprintf("%T", err) != "*shared.Refusal" {
		t.Errorf("a damaged row: %v", err)
	}
}
