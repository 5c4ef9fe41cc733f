package shared

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// TestSpendingAgainstModel asks and uses at random moments. The model remembers every use and sums them up. Short spans are kept use by
// use; in long ones, uses that share an entry may count a thousandth of the span longer.
func TestSpendingAgainstModel(t *testing.T) {
	type use struct {
		at   event.Time
		used event.Bounds
	}
	starts, refusals, returns := 0, 0, 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		per, slack := time.Duration(1+rng.IntN(60)), time.Duration(0)
		if seed%3 == 0 {
			per = time.Duration(3000 + rng.IntN(9000))
			slack = per / spendingParts
		}
		s := &Spending{Name: "api", Per: per, Most: event.Bounds{Attempts: int64(rng.IntN(5)), Tokens: float64(rng.IntN(3) * 40)}}
		if rng.IntN(2) == 0 || s.Most == (event.Bounds{}) {
			s.Most.CostUSD = 0.05 + rng.Float64()
		}
		rows, now, last := &Map{}, event.Time(1e6), event.Time(0)
		var uses []use
		inSpan := func(at event.Time, longer time.Duration) (sum event.Bounds) {
			for _, u := range uses {
				if at.Sub(u.at) < per+longer {
					sum = plus(sum, u.used)
				}
			}
			return sum
		}
		for i := range 200 {
			now = max(1, now.Add(time.Duration(rng.IntN(int(per)/4+4)-2))) // the clock goes back at times
			at := max(now, last)
			next, err := s.Next(rows, now, 0)
			if err != nil {
				t.Fatal(err)
			}
			if next == 0 && s.isReached(inSpan(at, 0)) || next != 0 && !s.isReached(inSpan(at, slack)) {
				t.Fatalf("seed %d, %d: at %d the answer is %d; used are %+v of %+v", seed, i, at, next, inSpan(at, 0), s.Most)
			}
			if next != 0 {
				refusals++
				if next <= at || s.isReached(inSpan(next, 0)) || !s.isReached(inSpan(next-1, slack)) {
					t.Fatalf("seed %d, %d: at %d the moment is %d, and %+v are used in the span then", seed, i, at, next, inSpan(next, 0))
				}
				continue
			}
			starts++
			used := event.Bounds{Attempts: 1}
			if err := s.Use(rows, now, used); err != nil {
				t.Fatal(err)
			}
			last = at
			if rng.IntN(6) == 0 {
				returns++
				if err := s.Return(rows, at); err != nil {
					t.Fatal(err)
				}
				continue
			}
			uses = append(uses, use{at, used})
			more := event.Bounds{Tokens: float64(rng.IntN(30)), CostUSD: float64(rng.IntN(20)) / 100}
			if err := s.Use(rows, now, more); err != nil {
				t.Fatal(err)
			}
			uses = append(uses, use{at, more})
			if have, _, err := s.State(rows, at); err != nil || have.Attempts < inSpan(at, 0).Attempts || have.Attempts > inSpan(at, slack).Attempts ||
				slack == 0 && math.Abs(have.CostUSD-inSpan(at, 0).CostUSD) > 1e-9 {
				t.Fatalf("seed %d, %d: at %d the state is %+v, %v, want %+v", seed, i, at, have, err, inSpan(at, 0))
			}
		}
		if n := len(rows.spaces[s.space()].keys); n > spendingParts+3 {
			t.Errorf("seed %d: %d rows", seed, n)
		}
		if err := s.Settle(rows, now-event.Time(10*per)); err != nil {
			t.Fatal(err)
		}
		if next, err := s.Next(rows, now-event.Time(10*per), 0); err != nil || next > (now-event.Time(10*per)).Add(per) {
			t.Errorf("seed %d: after the clock was ahead the moment is %d, %v", seed, next, err)
		}
	}
	if starts < 300 || refusals < 300 || returns < 30 {
		t.Errorf("%d starts, %d refusals and %d returns are too few", starts, refusals, returns)
	}
}
