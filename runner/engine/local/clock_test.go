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
