package enginetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// family is a parent with one child between two tasks of its own.
func family(child ...Task) Program {
	return Program{
		Tasks:     []Task{{Name: "before"}, {Name: "kid", Call: "child", After: []string{"before"}}, {Name: "after", After: []string{"kid"}}},
		Workflows: map[string]Program{"child": {Tasks: child}},
	}
}

// news are the ends of children that a journal holds.
func news(list []event.Event) (all []event.ChildFinished) {
	for _, ev := range list {
		if ev.ChildFinished != nil {
			all = append(all, *ev.ChildFinished)
		}
	}
	return all
}

// count counts the events of a kind.
func count(list []event.Event, kind string) (n int) {
	for _, ev := range list {
		if ev.Kind() == kind {
			n++
		}
	}
	return n
}

func childSucceeds(t *testing.T, s Store) {
	w := newWitness()
	h := s.Open(t, Factory, w)
	begin := family(Task{Name: "x"}, Task{Name: "y", Wait: 1e9}).Start()
	begin.First.Vars, begin.First.Dir, begin.First.Env = map[string]value.Value{"v": 1.0}, "/dir", map[string]string{"PATH": "/bin"}
	begin.First.Parallel = 3
	run, err := h.Start(context.Background(), begin)
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, h, run, event.Succeeded)
	child := childID(run, "kid")
	want := []event.ChildFinished{{Run: child, Node: "kid", Status: event.Succeeded, Outputs: map[string]value.Value{"tasks": 2.0}}}
	if got := news(events(t, h, run)); !reflect.DeepEqual(got, want) {
		t.Errorf("the parent heard %+v, want %+v", got, want)
	}
	list := events(t, h, child)
	first := list[0].RunStarted
	if d := fmt.Sprint(first.Run, first.Workflow, first.Inputs, first.Vars, first.Dir, first.Env, first.Parallel, first.Parent,
		first.ParentNode, first.Depth); d !=
		fmt.Sprint(child, "child", map[string]value.Value{"from": "kid"}, begin.First.Vars, "/dir", begin.First.Env, 3, run, "kid", 1) {
		t.Errorf("the child began with %s", d)
	}
	header, definition, err := h.Journal(context.Background(), child, func(journal.Batch) error { return nil })
	if err != nil || header.Definition != begin.Header.Definition || header.Workflow != "child" ||
		string(definition) != string(begin.Definition) {
		t.Errorf("the child's header is %+v, %v", header, err)
	}
	if n := len(w.took("x")); n != 1 {
		t.Errorf("its task ran %d times", n)
	}
}

func childFails(t *testing.T, s Store) {
	w := newWitness()
	w.fails["x"] = 1
	h := s.Open(t, Factory, w)
	run := start(t, h, family(Task{Name: "x"}))
	mustEnd(t, s, h, run, event.FailedS)
	got := news(events(t, h, run))
	if len(got) != 1 || got[0].Status != event.FailedS || got[0].Error == nil || got[0].Error.Message != "[x]" {
		t.Errorf("the parent heard %+v", got)
	}
	if n := len(w.took("after")); n != 0 {
		t.Errorf("what comes after the child ran %d times", n)
	}
}

func childIsThere(t *testing.T, s Store) {
	for _, ended := range []bool{false, true} {
		w := newWitness()
		h := s.Open(t, Factory, w)
		p := family(Task{Name: "x"})
		run := start(t, h, p)
		begin := engine.Child(p.Start(), event.StartChild{Run: childID(run, "kid"), Workflow: "child"})
		child, err := h.Start(context.Background(), begin)
		if err != nil {
			t.Fatal(err)
		}
		if ended {
			mustEnd(t, s, h, child, event.Succeeded)
		}
		mustEnd(t, s, h, run, event.Succeeded)
		if n := len(w.took("x")); n != 1 || len(news(events(t, h, run))) != 1 {
			t.Errorf("ended %v: its task ran %d times, the parent heard %+v", ended, n, news(events(t, h, run)))
		}
		h.Close()
	}
}

func manyChildren(t *testing.T, s Store) {
	const n = 100
	p := Program{Workflows: map[string]Program{"child": {Tasks: []Task{{Name: "x", Null: true}, {Name: "y", Wait: 1e9}}}}}
	for i := range n {
		p.Tasks = append(p.Tasks, Task{Name: fmt.Sprintf("c%d", i), Call: "child"})
	}
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, p)
	mustEnd(t, s, h, run, event.Succeeded)
	heard := map[string]int{}
	for _, f := range news(events(t, h, run)) {
		heard[f.Node]++
		events(t, h, f.Run) // is whole
	}
	for _, task := range p.Tasks {
		if heard[task.Name] != 1 {
			t.Errorf("of the end of %s the parent heard %d times", task.Name, heard[task.Name])
		}
	}
}

// deep is a chain of calls: n runs below the first.
func deep(n int) Program {
	p := Program{Workflows: map[string]Program{}}
	for i := range n + 1 {
		w := Program{Tasks: []Task{{Name: "leaf"}}}
		if i < n {
			w = Program{Tasks: []Task{{Name: "call", Call: fmt.Sprintf("w%d", i+1)}}}
		}
		if i == 0 {
			p.Tasks = w.Tasks
		}
		p.Workflows[fmt.Sprintf("w%d", i)] = w
	}
	return p
}

func deepChildren(t *testing.T, s Store) {
	for n, want := range map[int]event.Status{8: event.Succeeded, engine.MaxDepth: event.Succeeded, engine.MaxDepth + 1: event.FailedS} {
		w := newWitness()
		h := s.Open(t, Factory, w)
		run := start(t, h, deep(n))
		mustEnd(t, s, h, run, want)
		runs := 1
		for {
			next := news(events(t, h, run))
			if len(next) == 0 {
				break
			}
			last := next[0]
			if _, err := read(h, last.Run); errors.Is(err, engine.ErrNoRun) {
				if last.Error == nil || last.Error.Kind != event.Fatal || last.Error.Reason != event.ReasonLimit {
					t.Errorf("%d deep: the last call was answered %+v", n, last)
				}
				break
			}
			run = last.Run
			runs++
		}
		if reached := min(n, engine.MaxDepth) + 1; runs != reached || len(w.took("leaf")) != reached/(n+1) {
			t.Errorf("%d deep: %d runs, and the leaf ran %d times", n, runs, len(w.took("leaf")))
		}
		h.Close()
	}
}

// crashWithChild kills the host before and after each of its commits, and finishes on another.
func crashWithChild(t *testing.T, s Store) {
	p := family(Task{Name: "x"}, Task{Name: "w", Wait: 1e9, After: []string{"x"}}, Task{Name: "y", After: []string{"w"}, Tries: 2})
	atEveryCommit(t, func(n int, after bool) bool {
		w := newWitness()
		w.falters["y"] = true
		h := s.Open(t, Factory, w)
		run := start(t, h, p)
		lived := crashAt(t, s, h, run, n, after)
		h.Close()
		whole(t, s, w, run, fmt.Sprintf("commit %d, after it %v", n, after))
		return lived
	})
}

// whole finishes a family on another host, and looks whether anything was lost or done again.
func whole(t *testing.T, s Store, w *witness, run, where string) {
	t.Helper()
	h := s.Open(t, Factory, w)
	defer h.Close()
	child, calls := childID(run, "kid"), w.count()
	acknowledged := map[string]bool{}
	for _, id := range []string{run, child} {
		list, err := read(h, id)
		if err != nil && !errors.Is(err, engine.ErrNoRun) {
			t.Fatal(err)
		}
		for _, ev := range list {
			if f := ev.AttemptFinished; f != nil {
				acknowledged[fmt.Sprint(f.Node, f.Attempt)] = true
			}
		}
	}
	mustEnd(t, s, h, run, event.Succeeded)
	for _, a := range w.calls[calls:] {
		if acknowledged[fmt.Sprint(a.Node, a.Attempt)] {
			t.Errorf("%s: attempt %d of %s was acknowledged and ran again", where, a.Attempt, a.Node)
		}
	}
	if got := news(events(t, h, run)); len(got) != 1 || got[0].Status != event.Succeeded || got[0].Run != child {
		t.Errorf("%s: the parent heard %+v", where, got)
	}
	if list := events(t, h, child); count(list, "run_started") != 1 || list[len(list)-1].AttemptFinished == nil {
		t.Errorf("%s: the child's journal holds %v", where, kinds(list))
	}
}

// crashWhileChildIsCancelled: wherever the host dies, the child is cancelled once. It has a child itself, so that its own end
// takes a while.
func crashWhileChildIsCancelled(t *testing.T, s Store) {
	p := family(Task{Name: "x", Call: "grandchild"})
	p.Workflows["grandchild"] = Program{Tasks: []Task{{Name: "y", Wait: 1e18}}}
	p.Tasks = append(p.Tasks, Task{Name: "enough", After: []string{"before"}})
	atEveryCommit(t, func(n int, after bool) bool {
		var first Host // a worker can outlive it
		once := sync.Once{}
		world := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
			if a.Name == "enough" {
				once.Do(func() { first.Cancel(ctx, a.Run, "enough") })
			}
			return newWitness().Execute(ctx, a)
		})
		first = s.Open(t, Factory, world)
		run := start(t, first, p)
		lived := crashAt(t, s, first, run, n, after)
		first.Close()
		h := s.Open(t, Factory, newWitness())
		defer h.Close()
		if list, err := read(h, run); err != nil || count(list, "external") == 0 { // the wish itself may be what got lost
			if err := h.Cancel(context.Background(), run, "enough"); err != nil {
				t.Fatal(err)
			}
		}
		mustEnd(t, s, h, run, event.Cancelled)
		child, err := read(h, childID(run, "kid"))
		if err != nil && !errors.Is(err, engine.ErrNoRun) {
			t.Fatal(err)
		}
		if parent := count(events(t, h, run), "external"); parent == 1 && count(child, "external") > 1 {
			t.Errorf("commit %d, after it %v: the parent was cancelled once, the child %d times", n, after, count(child, "external"))
		}
		return lived
	})
}

// hangingChild drives a family until the child's task hangs.
func hangingChild(t *testing.T, s Store) (h Host, w *witness, run string, stop context.CancelCauseFunc, done chan error) {
	t.Helper()
	w = newWitness()
	w.hangs["x"] = true
	h = s.Open(t, Factory, w)
	run = start(t, h, family(Task{Name: "x"}))
	done = make(chan error, 1)
	ctx, stop := context.WithCancelCause(context.Background())
	t.Cleanup(func() { stop(nil) })
	go func() { _, err := h.Drive(ctx, run, nil); done <- err }()
	<-w.begun
	return h, w, run, stop, done
}

func crashInChild(t *testing.T, s Store) {
	h, w, run, _, done := hangingChild(t, s)
	h.Crash()
	if err := <-done; !errors.Is(err, ErrCrashed) {
		t.Fatal(err)
	}
	w.allow("x")
	h = s.Open(t, Factory, w)
	mustEnd(t, s, h, run, event.Succeeded)
	sameKey(t, w, "x", 2)
	if c := events(t, h, childID(run, "kid"))[1].DriverChanged; c == nil || !c.Lost {
		t.Errorf("after the crash the child hears %+v", c)
	}
	if n := len(news(events(t, h, run))); n != 1 {
		t.Errorf("the parent heard %d times", n)
	}
}

func stopWithChild(t *testing.T, s Store) {
	h, w, run, stop, done := hangingChild(t, s)
	why := errors.New("ctrl-c")
	stop(why)
	if err := <-done; err != why {
		t.Fatalf("Drive gives %v, want the context's cause", err)
	}
	if cause := <-w.cause; cause != executor.Stopping {
		t.Errorf("the child's attempt was ended with %v", cause)
	}
	h.Close()
	w.allow("x")
	h = s.Open(t, Factory, w)
	mustEnd(t, s, h, run, event.Succeeded)
	sameKey(t, w, "x", 2)
	if c := events(t, h, childID(run, "kid"))[1].DriverChanged; c == nil || c.Lost {
		t.Errorf("after the stop the child hears %+v", c)
	}
}

func cancelWithChild(t *testing.T, s Store) {
	h, w, run, _, done := hangingChild(t, s)
	if err := h.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if cause := <-w.cause; cause != executor.Cancelled {
		t.Errorf("the child's attempt was ended with %v", cause)
	}
	cancelled(t, s, h, run)
	list := events(t, h, childID(run, "kid"))
	if x := list[1].External; x == nil || x.Reason != "enough" || count(list, "external") != 1 {
		t.Errorf("the child's journal holds %v", kinds(list))
	}
	if got := news(events(t, h, run)); len(got) != 1 || got[0].Status != event.Cancelled {
		t.Errorf("the parent heard %+v", got)
	}
}

func cancelTwice(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	run := start(t, h, family(Task{Name: "x", Wait: 1e18}))
	for range 2 {
		if err := h.Cancel(context.Background(), run, "enough"); err != nil {
			t.Fatal(err)
		}
	}
	mustEnd(t, s, h, run, event.Cancelled)
	if _, err := read(h, childID(run, "kid")); !errors.Is(err, engine.ErrNoRun) {
		t.Errorf("a child that was not needed any more: %v", err)
	}
}

func cancelChildAlone(t *testing.T, s Store) {
	h, _, run, _, done := hangingChild(t, s)
	other := s.Open(t, Factory, newWitness())
	if err := other.Cancel(context.Background(), childID(run, "kid"), "enough"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, h, run, event.FailedS)
	if got := news(events(t, h, run)); len(got) != 1 || got[0].Status != event.Cancelled {
		t.Errorf("the parent heard %+v", got)
	}
}

func cancelChildUndriven(t *testing.T, s Store) {
	h, _, run, _, done := hangingChild(t, s)
	h.Crash()
	<-done
	child, h := childID(run, "kid"), s.Open(t, Factory, newWitness())
	if err := h.Cancel(context.Background(), child, "enough"); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, h, child, event.Cancelled)
	mustEnd(t, s, h, run, event.FailedS)
	if got := news(events(t, h, run)); len(got) != 1 || got[0].Status != event.Cancelled {
		t.Errorf("the parent heard %+v", got)
	}
}

func childUnmade(t *testing.T, s Store) {
	var h Host
	h = s.Open(t, Factory, executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if a.Name == "before" {
			if err := h.Cancel(ctx, a.Run, "enough"); err != nil {
				t.Error(err)
			}
		}
		return newWitness().Execute(ctx, a)
	}))
	p := family(Task{Name: "x"})
	p.Tasks[0].Null = true
	p.Tasks[0].After = []string{"first"}
	p.Tasks = append([]Task{{Name: "first", Null: true}}, p.Tasks...)
	run := start(t, h, p)
	cancelled(t, s, h, run)
	if _, err := read(h, childID(run, "kid")); !errors.Is(err, engine.ErrNoRun) {
		t.Errorf("the run was cancelled, and its child has a journal: %v", err)
	}
}
