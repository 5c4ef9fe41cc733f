package policy

import (
	"testing"
	"time"
)

func TestDelayGrowsToItsCap(t *testing.T) {
	b := Backoff{Base: time.Second, Max: 10 * time.Second, Multiplier: 2, Jitter: None}
	for n, want := range []time.Duration{0, 0, 1, 2, 4, 8, 10, 10} {
		if got := b.Delay(n, 1); got != want*time.Second {
			t.Errorf("attempt %d waits %v, want %vs", n, got, int64(want))
		}
	}
	if got := b.Delay(5000, 1); got != b.Max {
		t.Errorf("attempt 5000 waits %v, want the cap: the power overflows, the delay must not", got)
	}
}

func TestJitterStaysInItsRangeAndSpreads(t *testing.T) {
	for _, c := range []struct {
		j      Jitter
		lo, hi time.Duration
	}{{Full, 0, 4 * time.Second}, {Equal, 2 * time.Second, 4 * time.Second}} {
		b := Backoff{Base: 4 * time.Second, Max: time.Minute, Multiplier: 2, Jitter: c.j}
		var sum time.Duration
		const n = 10_000
		for i := range n {
			d := b.Delay(2, Seed("run", "node", i))
			if d < c.lo || d > c.hi {
				t.Fatalf("%s: %v is outside [%v, %v]", c.j, d, c.lo, c.hi)
			}
			sum += d
		}
		mean, want := sum/n, (c.lo+c.hi)/2
		if diff := (mean - want).Abs(); diff > 50*time.Millisecond {
			t.Errorf("%s: the mean is %v, want about %v", c.j, mean, want)
		}
	}
}

func TestDelayIsAFunctionOfItsArguments(t *testing.T) {
	b := Backoff{Base: time.Second, Max: time.Minute, Multiplier: 2, Jitter: Full}
	if b.Delay(3, Seed("r", "a", 3)) != b.Delay(3, Seed("r", "a", 3)) {
		t.Error("equal arguments gave two delays")
	}
	if b.Delay(3, Seed("r", "a", 3)) == b.Delay(3, Seed("r", "b", 3)) {
		t.Error("two nodes drew the same delay")
	}
}
