package local

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
)

// TestStartingAgainTakesNoTurn starts a run of a busy group a second time: that is no more than a question.
func TestStartingAgainTakesNoTurn(t *testing.T) {
	c := newCrew(t)
	s := long("g", "queue")
	s.Header.Run = "again"
	for _, e := range []*Engine{c.process(), c.process()} {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if run, err := e.Start(ctx, s); run != "again" || err != nil {
			t.Errorf("%q, %v", run, err)
		}
		var turns int
		if err := e.read.QueryRow("SELECT count(*) FROM turns").Scan(&turns); err != nil || turns != 1 {
			t.Errorf("%d turns are taken, %v", turns, err)
		}
	}
}

// TestStartWhileClosing has runs of a group start while the engine is closed: whoever comes too late is told so, and no driver
// is left behind that nobody closes.
func TestStartWhileClosing(t *testing.T) {
	for range 20 {
		c := newCrew(t)
		e := c.process()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				ctx, stop := context.WithTimeout(context.Background(), time.Minute)
				defer stop()
				if _, err := e.Start(ctx, long("g", "skip")); err != nil && !errors.Is(err, engine.ErrClosed) {
					t.Errorf("a start gives %v", err)
				}
			})
		}
		e.Close()
		all.Wait()
		e.mu.Lock()
		if epoch := e.driverEpoch(); epoch != 0 {
			t.Errorf("the closed engine is driver %d", epoch)
		}
		e.mu.Unlock()
		after, err := Open(c.dir, Options{Factory: enginetest.Factory})
		if err != nil {
			t.Fatal(err)
		}
		if alive, err := driversAlive(c.dir); alive || err != nil {
			t.Errorf("a driver is left, %v", err)
		}
		after.Close()
	}
}
