package local

import (
	"context"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// TestClockSetBack sets the clock back by an hour before and while a run waits: two waits of a second take no hour.
func TestClockSetBack(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Wait: time.Second}, {Name: "b", Wait: time.Second, After: []string{"a"}}}})
	done := make(chan error, 1)
	go func() {
		_, err := e.Drive(context.Background(), run, func([]event.Event, *event.Reaction, bool) { s.clock.advance(-time.Hour) })
		done <- err
	}()
	for seconds := 0; ; seconds++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		case <-time.After(2 * time.Millisecond):
			s.clock.advance(time.Second)
		}
		if seconds == 600 {
			t.Fatal("ten minutes later the run still waits")
		}
	}
}

func TestPace(t *testing.T) {
	c := newClock()
	at := func(d time.Duration) event.Time { return event.At(newClock().Now().Add(d)) }
	p := newPace(c, at(-time.Minute))
	for i, step := range []struct{ move, want time.Duration }{
		{0, 0}, {time.Second, time.Second}, {-time.Hour, time.Second}, {time.Second, 2 * time.Second}, {2 * time.Hour, 2*time.Hour + 2*time.Second},
	} {
		c.advance(step.move)
		if have := p.readClock(); have != at(step.want) {
			t.Errorf("step %d: it is %v, want %v", i, have, at(step.want))
		}
	}
}
