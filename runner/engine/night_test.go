package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// late is a clock that is ahead by as many nights as have passed.
type late struct{ nights atomic.Int64 }

func (l *late) Now() time.Time {
	return time.Now().Add(time.Duration(l.nights.Load()) * 10 * time.Hour)
}

func (l *late) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// TestNights drives a run with timeouts by three processes, with a night before each of them. The first finds a run that was made and
// that nobody has driven; the second stops in the middle of the called run.
func TestNights(t *testing.T) {
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(`
workflow "w" {
  default = true
  timeout = "2m"
  sequence "group" {
    timeout = "90s"
    step "a" { run = ["a"] }
    step "call" {
      call    = workflow.z
      timeout = "1m"
    }
  }
}
workflow "z" {
  timeout = "30s"
  step "b" { run = ["b"] }
}`)}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	dir, clock, begun := t.TempDir(), &late{}, make(chan bool, 1)
	var hangs atomic.Bool
	hangs.Store(true)
	open := func() *local.Engine {
		e, err := local.Open(dir, local.Options{Factory: factory, Clock: clock, Executor: executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
			f := executor.Answer(a)
			f.Outcome = event.OK
			if a.Name == "b" && hangs.Load() {
				begun <- true
				<-ctx.Done()
			}
			return f
		})})
		if err != nil {
			t.Fatal(err)
		}
		clock.nights.Add(1)
		return e
	}
	e := open()
	run, err := e.Start(context.Background(), program{Program: p.IR}.start())
	if err != nil {
		t.Fatal(err)
	}
	e.Close()

	e = open()
	ctx, stop := context.WithCancelCause(context.Background())
	evening := errors.New("ctrl-c")
	done := make(chan error, 1)
	go func() { _, err := e.Drive(ctx, run, nil); done <- err }()
	select {
	case <-begun:
	case err := <-done:
		t.Fatalf("after the first night it ended: %v", err)
	}
	stop(evening)
	if err := <-done; !errors.Is(err, evening) {
		t.Fatal(err)
	}
	e.Close()
	hangs.Store(false)

	e = open()
	defer e.Close()
	end, err := e.Drive(context.Background(), run, nil)
	if err != nil || end.Status != event.Succeeded {
		t.Errorf("after the second night it ended %s, %v, %v", end.Status, end.Error, err)
	}
}
