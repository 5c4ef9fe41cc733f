package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// TestBackupsWhileARunIsDriven takes backups while a run counts. In each copy the journals are whole, and the number is not behind the
// journal. A store that is made of the copy goes on with the run, and counts to the same end: no task counts twice, and none is lost.
func TestBackupsWhileARunIsDriven(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	p := enginetest.Program{Parallel: 4}
	for i := range 60 {
		p.Tasks = append(p.Tasks, enginetest.Task{Name: fmt.Sprint("t", i), Count: "n"})
		if i%4 == 3 && i > 4 { // in waves, so that there are many commits
			p.Tasks[i].After = []string{p.Tasks[i-4].Name}
		}
	}
	run := begin(t, e, p)
	ended := make(chan error, 1)
	go func() {
		_, err := e.Drive(context.Background(), run, nil)
		ended <- err
	}()
	var copies []string
	for i := range 3 {
		to := filepath.Join(t.TempDir(), fmt.Sprint("copy", i))
		if err := e.Backup(context.Background(), to); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, to)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, from := range copies {
		copied, err := Open(from, Options{Factory: enginetest.Factory, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		h, err := copied.Examine(context.Background(), 0)
		if err != nil || len(h.Broken) > 0 || h.Database != "" || h.Checked != 1 {
			t.Errorf("a copy is %+v, %v", h, err)
		}
		copied.Close()
		fresh := &store{dir: filepath.Join(t.TempDir(), ".flowrun"), clock: s.clock}
		if err := Restore(context.Background(), fresh.dir, from, Parts{KV: true, Runs: true}); err != nil {
			t.Fatal(err)
		}
		again := fresh.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
		if end, err := again.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
			t.Errorf("the run of a copy ends %+v, %v", end, err)
		}
		n, err := again.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "n"}})
		if err != nil || !value.Equal(n, 60.0) {
			t.Errorf("the run of a copy has counted to %v (%v), want 60", n, err)
		}
	}
}

// TestRestoreWaitsForDrivers restores while another process drives a run: state under keys at any time, runs when it has ended.
func TestRestoreWaitsForDrivers(t *testing.T) {
	s, e, run, c := drivenElsewhere(t)
	from := filepath.Join(t.TempDir(), "copy")
	if err := e.Backup(context.Background(), from); err != nil {
		t.Fatal(err)
	}
	set := event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVSet, Namespace: "default", Key: "k", Value: 1.0}}
	if _, err := e.Ask(context.Background(), set); err != nil {
		t.Fatal(err)
	}
	get := event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "k"}}
	if err := Restore(context.Background(), s.dir, from, Parts{KV: true, Runs: true}); !errors.Is(err, engine.ErrOwned) {
		t.Errorf("while a process drives, a restore of runs gives %v", err)
	}
	if v, err := e.Ask(context.Background(), get); err != nil || v != 1.0 {
		t.Errorf("after a refusal the key is %v, %v", v, err)
	}
	if err := Restore(context.Background(), s.dir, from, Parts{KV: true}); err != nil {
		t.Error(err)
	}
	if v, err := e.Ask(context.Background(), get); err != nil || v != nil {
		t.Errorf("after the restore the key is %v, %v", v, err)
	}
	c.Process.Kill()
	c.Wait()
	if err := Restore(context.Background(), s.dir, from, Parts{Runs: true}); !errors.Is(err, engine.ErrOwned) {
		t.Errorf("while the process lives that made the run, a restore of runs gives %v", err)
	}
	e.Close()
	if err := Restore(context.Background(), s.dir, from, Parts{Runs: true}); err != nil {
		t.Fatal(err)
	}
	e = s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Errorf("the run ends %+v, %v", end, err)
	}
}
