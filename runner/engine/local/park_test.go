package local

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// callers is a run that calls two runs of a group, which wait for an hour between two attempts.
func callers(group string) engine.Start {
	leaf := enginetest.Program{Tasks: []enginetest.Task{{Name: "a"}, {Name: "w", Wait: time.Hour, After: []string{"a"}}, {Name: "b", After: []string{"w"}}}}
	s := enginetest.Program{Tasks: []enginetest.Task{{Name: "one", Call: "leaf"}, {Name: "two", Call: "leaf"}, {Name: "last", After: []string{"one", "two"}}},
		Workflows: map[string]enginetest.Program{"leaf": leaf}}.Start()
	s.First.Vars = map[string]any{"group": "", "leaf": group}
	return s
}

// attemptCount counts attempts, by run and node.
type attemptCount struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *attemptCount) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	c.mu.Lock()
	c.calls[a.Run+"/"+a.Node]++
	c.mu.Unlock()
	return answersOK.Execute(ctx, a)
}

// workAll drives a run, and what must be woken, as a supervisor does, until the run has ended. wait is called while all runs are parked.
func workAll(ctx context.Context, e *Engine, run string, wait func()) (end event.End, err error) {
	ready := []string{run}
	for due := time.Now().Add(time.Minute); ; {
		for _, r := range ready {
			this, err := e.DriveUntilParked(ctx, r, nil)
			switch {
			case errors.Is(err, engine.ErrParked):
			case err != nil:
				return end, fmt.Errorf("run %s: %w", r, err)
			case r == run:
				return this, nil
			}
		}
		if ready, _, err = e.Wakeable(ctx, 10); err != nil {
			return end, err
		}
		if len(ready) == 0 {
			wait()
		}
		if time.Now().After(due) {
			return end, errors.New("it never ends")
		}
	}
}

var everyKill = flag.Bool("local.everykill", false, "TestParkedTreeAtEveryCommit kills at every commit, and not at some of them")

// Wherever the process dies that parks a tree of runs and wakes it, the next one finishes the tree: with the same results, and no
// attempt is made again whose answer was durable. The called runs are of one group in every second try.
func TestParkedTreeAtEveryCommit(t *testing.T) {
	tries, kills, step := 0, 0, 9
	if *everyKill {
		step = 1
	}
	for n, lived := 1, false; !lived; n++ {
		for _, after := range []bool{false, true} {
			for _, group := range []string{"", "g"} {
				if tries++; tries%step != 0 {
					continue
				}
				if lived = killParkedTree(t, group, n, after); !lived {
					kills++
				}
			}
		}
	}
	t.Logf("%d kills", kills)
	if kills < 80/step {
		t.Errorf("%d kills prove little", kills)
	}
}

// killParkedTree kills the process of a tree before or after a commit, and finishes the tree. It reports whether there was no such
// commit.
func killParkedTree(t *testing.T, group string, n int, after bool) (lived bool) {
	t.Helper()
	where := fmt.Sprintf("group %q, commit %d, after it %v", group, n, after)
	s := newStore(t)
	x := &attemptCount{calls: map[string]int{}}
	first := &host{s.open(t, Options{Factory: enginetest.Factory, Executor: x, Group: groupVar})}
	run, err := first.Start(context.Background(), callers(group))
	if err != nil {
		t.Fatal(err)
	}
	first.CrashAt(n, after)
	_, err = workAll(context.Background(), first.Engine, run, func() { s.Advance(time.Hour) })
	lived = err == nil
	first.Crash()
	second := s.open(t, Options{Factory: enginetest.Factory, Executor: x, Group: groupVar})
	defer second.Close()
	done := map[string]bool{}
	tree, err := second.Tree(context.Background(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range tree {
		list, err := eventsOf(second, i.Run)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range list {
			if f := ev.AttemptFinished; f != nil {
				done[i.Run+"/"+f.Node] = true
			}
		}
	}
	x.calls = map[string]int{}
	end, err := workAll(context.Background(), second, run, func() { s.Advance(time.Hour) })
	if err != nil || end.Status != event.Succeeded {
		t.Fatalf("%s: it ends as %s, %v", where, end.Status, err)
	}
	if len(done)+len(x.calls) != 5 {
		t.Errorf("%s: %d attempts were done before, and %d were made afterwards, want 5 in all", where, len(done), len(x.calls))
	}
	for attempt := range x.calls {
		if done[attempt] {
			t.Errorf("%s: %s was made again", where, attempt)
		}
	}
	if left, err := readTexts(second.read.Query("SELECT id FROM runs WHERE parked IS NOT NULL OR ended = 0")); err != nil || len(left) > 0 {
		t.Errorf("%s: left are %v, %v", where, left, err)
	}
	return lived
}

// A process that does not park runs goes on with a tree that was parked: it drives the called runs itself.
func TestParkedTreeIsDriven(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	defer e.Close()
	run, err := e.Start(context.Background(), callers(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.DriveUntilParked(context.Background(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := e.Drive(context.Background(), run, nil)
		done <- err
	}()
	for due := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.Advance(time.Minute)
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		if time.Now().After(due) {
			t.Fatal("it never ends")
		}
	}
}

// A called run that cannot be driven beside its caller fails the drive of its caller, which is told once.
func TestParkedTreeWithABrokenJournal(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	defer e.Close()
	run, err := e.Start(context.Background(), callers(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.DriveUntilParked(context.Background(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	tree, err := e.Tree(context.Background(), run)
	if err != nil || len(tree) != 3 {
		t.Fatal(tree, err)
	}
	err = e.write(func(tx *transaction) error {
		_, err := tx.exec("UPDATE batches SET digest = digest + 1 WHERE run = (SELECT key FROM runs WHERE id = ?) AND first > 1", tree[1].Run)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Advance(time.Hour)
	failed := map[string]int{}
	for range 10 {
		runs, _, err := e.Wakeable(context.Background(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if _, err := e.DriveUntilParked(context.Background(), r, nil); err != nil && !errors.Is(err, engine.ErrParked) {
				failed[r]++
			}
		}
	}
	if len(failed) != 2 || failed[tree[1].Run] != 1 || failed[run] != 1 {
		t.Errorf("of run %s and the broken run %s these drives fail: %v", run, tree[1].Run, failed)
	}
}

// A process that takes over a parked tree gets the called runs, too, though the first process goes on to wake what it has parked.
func TestParkedTreeIsTakenOver(t *testing.T) {
	s := newStore(t)
	first := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run, err := first.Start(context.Background(), callers(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.DriveUntilParked(context.Background(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	taker := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK, TakeOver: true})
	done := make(chan error, 1)
	go func() {
		end, err := taker.Drive(context.Background(), run, nil)
		if err == nil && end.Status != event.Succeeded {
			err = fmt.Errorf("it ends as %s", end.Status)
		}
		done <- err
	}()
	for due := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.Advance(time.Minute)
		runs, _, err := first.Wakeable(context.Background(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			_, err := first.DriveUntilParked(context.Background(), r, nil)
			if err != nil && !errors.Is(err, engine.ErrParked) && !errors.Is(err, engine.ErrFenced) && !errors.Is(err, engine.ErrOwned) {
				t.Errorf("run %s: %v", r, err)
			}
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			if runs, _, err := first.Wakeable(context.Background(), 10); err != nil || len(runs) > 0 {
				t.Errorf("the first process is to wake %v, %v", runs, err)
			}
			return
		default:
		}
		if time.Now().After(due) {
			t.Fatal("it never ends")
		}
	}
}

// The same, by a process that parks runs, too. The first process drives nothing of the tree any more.
func TestParkedTreeIsTakenOverAndParked(t *testing.T) {
	for _, group := range []string{"", "g"} {
		t.Run("group "+group, func(t *testing.T) { takeParkedTree(t, group) })
	}
}

func takeParkedTree(t *testing.T, group string) {
	s := newStore(t)
	first := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar})
	run, err := first.Start(context.Background(), callers(group))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.DriveUntilParked(context.Background(), run, nil); !errors.Is(err, engine.ErrParked) {
		t.Fatal(err)
	}
	taker := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar, TakeOver: true})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	rests := 0
	end, err := workAll(ctx, taker, run, func() {
		if rests++; rests == 5 {
			stop()
		}
		s.Advance(time.Hour)
		runs, _, err := first.Wakeable(ctx, 10)
		if err != nil {
			t.Error(err)
		}
		for _, r := range runs {
			if _, err := first.DriveUntilParked(ctx, r, nil); err == nil {
				t.Errorf("the first process drives run %s", r)
			}
		}
	})
	if err != nil || end.Status != event.Succeeded {
		t.Fatalf("the run ends as %q, %v", end.Status, err)
	}
	list, err := eventsOf(taker, run)
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.IndexFunc(list, func(ev event.Event) bool { return ev.DriverChanged != nil })
	if want := fmt.Sprintf("taken over from process %d", os.Getpid()); changed < 0 || list[changed].DriverChanged.Why != want || list[changed].DriverChanged.Lost {
		t.Errorf("the journal does not say %q: %+v", want, list)
	}
}

// hasty is a machine whose run ends with its first message, whatever the runs do that it called.
type hasty struct {
	engine.Machine
	over bool
}

func hastyFactory(h journal.Header, definition []byte) (engine.Machine, error) {
	m, err := enginetest.Factory(h, definition)
	return &hasty{Machine: m}, err
}

func (m *hasty) Step(ev event.Event) error {
	if m.over = ev.External != nil; m.over {
		return nil
	}
	return m.Machine.Step(ev)
}

func (m *hasty) Advance(budget int, out *event.Reaction) bool {
	if m.over {
		out.Commands = append(out.Commands, event.Command{End: &event.End{Status: event.Succeeded}})
		return false
	}
	return m.Machine.Advance(budget, out)
}

// A caller that ends before the run that it called leaves that run as one that nobody drives. The run's turn goes to the next run.
func TestParkedCalledRunIsLeft(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: hastyFactory, Executor: answersOK, Group: groupVar, Externals: enginetest.Externals})
	var runs []string
	for _, start := range []engine.Start{callers("g"), long("g", "")} {
		run, err := e.Start(context.Background(), start)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.DriveUntilParked(context.Background(), run, nil); !errors.Is(err, engine.ErrParked) {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	run, next := runs[0], runs[1]
	if err := e.Signal(context.Background(), run, event.External{Kind: enginetest.Note, Node: "last"}); err != nil {
		t.Fatal(err)
	}
	if end, err := e.DriveUntilParked(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Fatal(end, err)
	}
	woken, _, err := e.Wakeable(context.Background(), 10)
	if err != nil || !slices.Equal(woken, []string{next}) {
		t.Errorf("to be woken are %v, %v; want run %s of the same group", woken, err, next)
	}
	held, err := readTexts(e.read.Query("SELECT r.id FROM turns t JOIN runs r ON r.key = t.run WHERE t.epoch IS NOT NULL"))
	if err != nil || !slices.Equal(held, []string{next}) {
		t.Errorf("this process has the turns of %v, %v; want %s alone", held, err, next)
	}
}

// What a parked run waits for goes to others when its journal cannot be replayed.
func TestParkedRunWithABrokenJournalLeavesTheLine(t *testing.T) {
	s := newStore(t)
	began := make(chan struct{})
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "scarce" {
			close(began)
			<-ctx.Done()
		}
		return answersOK(ctx, a)
	})})
	scarce := enginetest.Program{Tasks: []enginetest.Task{{Name: "a"}, {Name: "scarce", Scarce: 1, After: []string{"a"}}}}
	scarce.Tasks[0].Null = true
	holder, run := begin(t, e, scarce), begin(t, e, scarce)
	ctx, stop := context.WithCancel(context.Background())
	done, parked := make(chan error, 1), make(chan error, 1)
	go func() { _, err := e.Drive(ctx, holder, nil); done <- err }()
	<-began
	go func() { _, err := e.DriveUntilParked(context.Background(), run, nil); parked <- err }()
	for err := error(nil); !errors.Is(err, engine.ErrParked); {
		select {
		case err = <-parked:
		case <-time.After(time.Millisecond):
			s.Advance(time.Second)
		}
	}
	err := e.write(func(tx *transaction) error {
		_, err := tx.exec("UPDATE batches SET digest = digest + 1 WHERE run = (SELECT key FROM runs WHERE id = ?) AND first > 1", run)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.DriveUntilParked(context.Background(), run, nil); err == nil || errors.Is(err, engine.ErrParked) {
		t.Errorf("a drive of a broken run returns %v", err)
	}
	if left, err := readTexts(e.read.Query("SELECT node FROM admissions WHERE run = ?", run)); err != nil || len(left) > 0 {
		t.Errorf("the run still waits with %v, %v", left, err)
	}
	stop()
	<-done
}
