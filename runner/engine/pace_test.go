package engine

import (
	"math/rand"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestTimersUnderJumps has 200 clocks that jump: each timer is due once, at the latest when its time has passed by the stopwatch,
// and early by no more than the clock was set forward.
func TestTimersUnderJumps(t *testing.T) {
	fired, jumps := 0, 0
	for seed := range 200 {
		random := rand.New(rand.NewSource(int64(seed)))
		var p pace
		var set timers
		var clock, stopwatch time.Duration
		now := func() event.Time { return p.read(event.At(began.Add(clock)), stopwatch) }
		waits := map[uint64]time.Duration{}
		for n := uint64(1); n <= 20; n++ {
			waits[n] = time.Duration(random.Int63n(int64(48 * time.Hour)))
			set.add(event.SetTimer{Timer: n, Due: now().Add(waits[n])})
		}
		var passed, forward time.Duration
		for len(waits) > 0 {
			if random.Intn(4) == 0 {
				j := []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour, time.Unix(0, 0).Sub(began) - clock}[random.Intn(5)]
				jumps++
				forward += max(j, 0)
				clock += j
			} else {
				d := time.Duration(random.Int63n(int64(40 * time.Minute)))
				passed += d
				clock, stopwatch = clock+d, stopwatch+d
			}
			for {
				due, ok := set.due(now())
				if !ok {
					break
				}
				wait, there := waits[due.Timer]
				if !there || passed < wait-forward {
					t.Fatalf("seed %d: timer %d of %v after %v, with the clock set forward by %v; set: %v", seed, due.Timer, wait, passed, forward, there)
				}
				delete(waits, due.Timer)
				fired++
			}
			for n, wait := range waits {
				if wait <= passed {
					t.Fatalf("seed %d: timer %d of %v has not fired after %v", seed, n, wait, passed)
				}
			}
		}
	}
	t.Logf("200 seeds, %d jumps: %d timers, each fired once", jumps, fired)
}

func TestPace(t *testing.T) {
	at := func(d time.Duration) event.Time { return event.At(began.Add(d)) }
	p := pace{now: at(-time.Minute)}
	var clock, stopwatch time.Duration
	for i, step := range []struct{ move, want time.Duration }{
		{0, 0}, {time.Second, time.Second}, {-time.Hour, time.Second}, {time.Second, 2 * time.Second}, {2 * time.Hour, 2*time.Hour + 2*time.Second},
	} {
		if clock += step.move; step.move > 0 {
			stopwatch += step.move
		}
		if have := p.read(at(clock), stopwatch); have != at(step.want) {
			t.Errorf("step %d: it is %v, want %v", i, have, at(step.want))
		}
	}
}
