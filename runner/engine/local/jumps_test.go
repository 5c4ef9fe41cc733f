package local

import (
	"context"
	"flag"
	"math/rand"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
)

var jumpSeeds = flag.Int("local.jumps", 8, "over how many seeds TestClockJumps drives runs")

// jump is how somebody sets a clock: by an hour or a day, either way, back to 1970, or on to where a suspended computer wakes up.
func jump(random *rand.Rand, now time.Time) time.Duration {
	return []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour, time.Unix(0, 0).Sub(now),
		time.Duration(random.Int63n(int64(72 * time.Hour)))}[random.Intn(6)]
}

// TestClockJumps drives runs of waits while the clock jumps: they end, and each timer stands in the journal once.
func TestClockJumps(t *testing.T) {
	for seed := range *jumpSeeds {
		random := rand.New(rand.NewSource(int64(seed)))
		s := newStore(t)
		e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
		p := enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Wait: 2 * time.Hour}, {Name: "b", Wait: time.Hour},
			{Name: "c", Wait: time.Hour, After: []string{"b"}}, {Name: "d", Wait: 26 * time.Hour, After: []string{"a"}}}}
		run := begin(t, e, p)
		done := make(chan error, 1)
		go func() { _, err := e.Drive(context.Background(), run, nil); done <- err }()
		for ended, steps := false, 0; !ended; steps++ {
			select {
			case err := <-done:
				if ended = true; err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Millisecond):
				s.Advance(10 * time.Minute)
				if random.Intn(10) == 0 {
					if random.Intn(2) == 0 {
						time.Sleep(time.Millisecond) // the driver waits again, most often
					}
					s.clock.set(jump(random, s.clock.Now()))
				}
			}
			if steps > 20000 {
				t.Fatalf("seed %d: the run still waits after 20,000 times ten minutes", seed)
			}
		}
		fired := map[uint64]int{}
		for _, ev := range journalOf(t, e, run) {
			if ev.TimerFired != nil {
				fired[ev.TimerFired.Timer]++
			}
		}
		for n, times := range fired {
			if times != 1 {
				t.Errorf("seed %d: timer %d fired %d times", seed, n, times)
			}
		}
		if len(fired) != len(p.Tasks) {
			t.Errorf("seed %d: %d timers fired, want %d", seed, len(fired), len(p.Tasks))
		}
		e.Close()
	}
}

// TestTheClockIsSetWhileADriverWaits sets the clock at the one moment at which a driver cannot see it: while it waits for a timer.
// It has to look again by itself, whether the clock is back where it was 56 years ago or ahead of all that is due.
//
// TestClockJumps failed on a busy computer for that moment, where its clock had what waits wait for the time of day: set back to 1970
// just then it rang 56 years later, which no clock of Go does.
func TestTheClockIsSetWhileADriverWaits(t *testing.T) {
	for name, test := range map[string]struct {
		by   func(time.Time) time.Duration
		most int // minutes until the run has ended
	}{
		"back to 1970":   {func(now time.Time) time.Duration { return time.Unix(0, 0).Sub(now) }, 180},
		"back by a day":  {func(time.Time) time.Duration { return -24 * time.Hour }, 180},
		"ahead by a day": {func(time.Time) time.Duration { return 24 * time.Hour }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
			run := begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Wait: time.Hour}}})
			done := make(chan error, 1)
			go func() { _, err := e.Drive(context.Background(), run, nil); done <- err }()
			waits := func() bool {
				for due := time.Now().Add(time.Minute); s.clock.waiting() == 0; time.Sleep(100 * time.Microsecond) {
					if len(done) > 0 {
						return false
					}
					if time.Now().After(due) {
						t.Fatal("the driver neither waits nor ends")
					}
				}
				return true
			}
			waits()
			s.clock.set(test.by(s.clock.Now()))
			minutes := 0
			for ; waits(); minutes++ {
				if minutes > test.most {
					t.Fatalf("after %d minutes the run still waits", minutes)
				}
				s.Advance(time.Minute)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
