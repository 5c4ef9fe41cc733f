package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// drivenElsewhere is a store with a run that another process drives, stuck in its first task.
func drivenElsewhere(t *testing.T) (s *store, e *Engine, run string, c *child) {
	t.Helper()
	s = newStore(t)
	e = s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run = begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: "hang"}, {Name: "b", After: []string{"hang"}}}})
	c = startChild(t, childOrder{Dir: s.dir, Run: run})
	if l := c.line(); l != "began hang" {
		t.Fatalf("the child says %q", l)
	}
	return s, e, run, c
}

var answersOK = executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
	f := executor.Answer(a)
	f.Outcome = event.OK
	if a.Agent != nil {
		f.Output = a.Agent.With
	}
	return f
})

func begin(t testing.TB, e *Engine, p enginetest.Program) string {
	t.Helper()
	run, err := e.Start(context.Background(), p.Start())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// eventsOf reads and checks a journal with a fresh machine.
func eventsOf(e *Engine, run string) ([]event.Event, error) {
	var all []event.Event
	var fold *engine.Fold
	var out event.Reaction
	h, definition, err := e.Journal(context.Background(), run, func(journal.Batch) error { return nil })
	if err != nil {
		return nil, err
	}
	m, err := enginetest.Factory(h, definition)
	if err != nil {
		return nil, err
	}
	fold = engine.NewFold(h, m)
	_, _, err = e.Journal(context.Background(), run, func(b journal.Batch) error {
		list, err := fold.Replay(b, &out)
		all = append(all, list...)
		return err
	})
	return all, err
}

func TestAnotherProcessIsRefusedAndTakesOverFromTheDead(t *testing.T) {
	s, e, run, c := drivenElsewhere(t)
	began := time.Now()
	_, err := e.Drive(context.Background(), run, nil)
	if !errors.Is(err, engine.ErrOwned) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", c.Process.Pid)) {
		t.Errorf("the second driver gets %v", err)
	}
	if d := time.Since(began); d > 30*time.Second { // on a machine that does nothing else it takes milliseconds
		t.Errorf("the refusal took %v", d)
	}
	viewer, err := Open(s.dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.Close()
	if i, err := viewer.Get(context.Background(), run); err != nil || i.Driver != c.Process.Pid || i.Status != event.Running || i.Crashed {
		t.Errorf("while it is driven, the list says %+v, %v", i, err)
	}
	c.Process.Kill()
	c.Wait()
	if i, err := viewer.Get(context.Background(), run); err != nil || i.Driver != 0 || !i.Crashed {
		t.Errorf("after the driver's death, the list says %+v, %v", i, err)
	}
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Fatal(end, err)
	}
	list, err := eventsOf(e, run)
	if err != nil {
		t.Fatal(err)
	}
	if d := list[1].DriverChanged; d == nil || !d.Lost {
		t.Errorf("the second event is %+v", list[1])
	}
}

func TestCancelReachesAnotherProcess(t *testing.T) {
	_, e, run, c := drivenElsewhere(t)
	if err := e.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if l := c.line(); l != "end cancelled <nil>" {
		t.Errorf("the child says %q", l)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTakeOverFromAStoppedProcess(t *testing.T) {
	s, _, run, c := drivenElsewhere(t)
	c.Process.Signal(syscall.SIGSTOP)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK, TakeOver: true})
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Fatal(end, err)
	}
	before, err := eventsOf(e, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range before {
		if d := ev.DriverChanged; d != nil && d.Lost {
			t.Error("the old owner lives, and counts as one that died over its attempts")
		}
	}
	c.Process.Signal(syscall.SIGCONT)
	if l := c.line(); !strings.Contains(l, engine.ErrFenced.Error()) {
		t.Errorf("the old owner says %q", l)
	}
	c.Wait()
	if after, err := eventsOf(e, run); err != nil || len(after) != len(before) {
		t.Errorf("the journal went from %d to %d events, %v", len(before), len(after), err)
	}
}

// TestKillAtEveryCommit kills a driving process with SIGKILL before and after each of its commits.
func TestKillAtEveryCommit(t *testing.T) {
	p := enginetest.Program{Parallel: 2, Tasks: []enginetest.Task{
		{Name: "a"}, {Name: "b", Null: true}, {Name: "c", After: []string{"a", "b"}}, {Name: "d", After: []string{"c"}, Null: true}, {Name: "w", Wait: 1},
	}}
	kills, commits := 0, 0
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			if !killOnce(t, p, n, after) {
				commits = n - 1
				break
			}
			kills++
		}
	}
	if commits < 4 {
		t.Errorf("only %d commits: the kills prove little", commits)
	}
	t.Logf("%d kills", kills)
}

func killOnce(t *testing.T, p enginetest.Program, n int, after bool) bool {
	t.Helper()
	s := newStore(t)
	e, err := Open(s.dir, Options{Factory: enginetest.Factory, Executor: childExecutor(s.dir)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	run := begin(t, e, p)
	c := startChild(t, childOrder{Dir: s.dir, Run: run, KillAt: n, KillAfter: after})
	killed := c.Wait() != nil
	acknowledged, err := eventsOf(e, run)
	if err != nil {
		t.Fatalf("commit %d, after it %v: %v", n, after, err)
	}
	before := noted(t, s.dir)
	end, err := e.Drive(context.Background(), run, nil)
	if err != nil || end.Status != event.Succeeded {
		t.Fatalf("commit %d, after it %v: %v, %v", n, after, end, err)
	}
	total := noted(t, s.dir)
	if len(total) != 4 {
		t.Errorf("commit %d, after it %v: attempts and keys differ after the kill: %v", n, after, total)
	}
	for _, ev := range acknowledged {
		if f := ev.AttemptFinished; f != nil {
			line := fmt.Sprintf("%s|%d|%s/%s", f.Node, f.Attempt, run, f.Node)
			if total[line] != before[line] {
				t.Errorf("commit %d, after it %v: %s was acknowledged and ran again", n, after, line)
			}
		}
	}
	return killed
}

// TestProcessesShareAStore has several processes write as fast as they can: nobody is ever told that the store is busy.
func TestProcessesShareAStore(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	var children []*child
	for range 3 {
		children = append(children, startChild(t, childOrder{Dir: s.dir, Run: begin(t, e, enginetest.Chain(100))}))
	}
	if end, err := e.Drive(context.Background(), begin(t, e, enginetest.Chain(100)), nil); err != nil || end.Status != event.Succeeded {
		t.Error(end, err)
	}
	for _, c := range children {
		if l := c.line(); l != "end succeeded <nil>" {
			t.Errorf("a child says %q", l)
		}
	}
}

// TestFullDisk lets the system refuse to grow the log in the middle of a run. The error is named, nothing that was shown
// is lost, and once there is room the run goes on.
func TestFullDisk(t *testing.T) {
	s := newStore(t)
	e, err := Open(s.dir, Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		t.Fatal(err)
	}
	const length = 100
	run := begin(t, e, enginetest.Chain(length))
	c := startChild(t, childOrder{Dir: s.dir, Run: run, MaxFile: 300 << 10})
	if l := c.line(); !strings.Contains(l, "writing to the store") {
		t.Errorf("the child says %q", l)
	}
	var shown int
	if _, err := fmt.Sscanf(c.line(), "shown %d", &shown); err != nil || shown < 2 || shown > length {
		t.Errorf("%d events were shown, %v", shown, err)
	}
	c.Wait()
	if list, err := eventsOf(e, run); err != nil || len(list) < shown {
		t.Errorf("%d events were shown, %d are there, %v", shown, len(list), err)
	}
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Error(end, err)
	}
	e.Close()
}
