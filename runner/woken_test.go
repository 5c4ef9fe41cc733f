package runner_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
)

// A message from this process wakes a parked run before the supervisor's next look.
func TestWokenAtOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		host, err := local.Open(dir, local.Options{Factory: enginetest.Factory, Externals: enginetest.Externals})
		if err != nil {
			t.Fatal(err)
		}
		defer host.Close()
		ended := make(chan error, 1)
		s := runner.NewSupervisor(host, runner.SupervisorOptions{Ended: func(_ string, _ event.End, err error) { ended <- err }})
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			s.Run(ctx)
		}()
		defer func() {
			cancel()
			<-stopped
		}()
		run, err := host.Start(ctx, enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Note: true}}}.Start())
		if err != nil {
			t.Fatal(err)
		}
		s.Add(run)
		time.Sleep(time.Second + 3*time.Millisecond) // it is parked, and a look was just made
		sent := time.Now()
		if err := host.Signal(ctx, run, event.External{Kind: enginetest.Note, Node: "a"}); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if late := time.Since(sent); late > 5*time.Millisecond {
			t.Errorf("the run has ended %v after its message", late)
		}
	})
}
