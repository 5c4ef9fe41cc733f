package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// turns is an executor that sees which runs have an attempt under way at once. An attempt takes a while, and longer where its task
// is called "hang": until it is let go.
type turns struct {
	mu    sync.Mutex
	live  map[string]bool
	most  int
	order []string
	hang  chan struct{}
	begun chan string
}

func newTurns() *turns {
	return &turns{live: map[string]bool{}, hang: make(chan struct{}), begun: make(chan string, 100)}
}

func (x *turns) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	x.mu.Lock()
	x.live[a.Run] = true
	x.most = max(x.most, len(x.live))
	x.order = append(x.order, a.Run)
	x.mu.Unlock()
	if a.Name == "hang" {
		x.begun <- a.Run
		select {
		case <-x.hang:
		case <-ctx.Done():
		}
	}
	time.Sleep(5 * time.Millisecond)
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.live, a.Run)
	f := executor.Answer(a)
	if f.Outcome = event.OK; ctx.Err() != nil {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonCancelled, Message: "cancelled", ExitCode: -1}
	}
	return f
}

func (c *crew) with(x executor.Executor) *Engine {
	return c.open(c.t, Options{Factory: enginetest.Factory, Executor: x, Group: groupVar})
}

// calling is a task for each of the names, which calls that workflow; a name may be followed by a number.
func calling(names ...string) (p enginetest.Program) {
	for i, name := range names {
		p.Tasks = append(p.Tasks, enginetest.Task{Name: fmt.Sprintf("call%d", i), Call: name})
	}
	return p
}

// steps are tasks of a called run, one after the other.
func steps(names ...string) (p enginetest.Program) {
	for i, name := range names {
		t := enginetest.Task{Name: name}
		if i > 0 {
			t.After = []string{names[i-1]}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// family is a run of the group "g" that calls others; of the same group are the workflows that are named in groups.
func family(p enginetest.Program, workflows map[string]enginetest.Program, busy string, groups ...string) engine.Start {
	p.Workflows = workflows
	s := p.Start()
	s.First.Vars = map[string]any{"group": "g", "busy": busy}
	for _, w := range groups {
		name, group, other := strings.Cut(w, "=")
		if s.First.Vars[name] = "g"; other {
			s.First.Vars[name] = group
		}
	}
	return s
}

// A run that is called shares the turn of its caller, and takes turns with others that do.
func TestSiblingsTakeTurns(t *testing.T) {
	works := steps("a", "b", "c")
	for name, test := range map[string]struct {
		start engine.Start
		runs  int
	}{
		"three of one caller": {family(calling("child", "child", "child"), map[string]enginetest.Program{"child": works}, "", "child"), 3},
		"which would skip":    {family(calling("child", "child", "child"), map[string]enginetest.Program{"child": works}, "skip", "child"), 3},
		"below runs of no group": {family(calling("mid", "mid", "child"), map[string]enginetest.Program{"mid": calling("child", "child"), "child": works},
			"", "child"), 5},
		"below runs of another group": {family(calling("mid", "mid", "child"), map[string]enginetest.Program{"mid": calling("child", "child"), "child": works},
			"", "child", "mid=h"), 5},
		"three generations": {family(calling("mid", "mid", "child"), map[string]enginetest.Program{"mid": calling("child", "child"), "child": works},
			"", "child", "mid"), 5},
	} {
		t.Run(name, func(t *testing.T) {
			c, x := newCrew(t), newTurns()
			u := launch(c.with(x), test.start)
			<-u.run
			c.until("all has ended", func() bool { return len(u.done) > 0 })
			c.ended(u, event.Succeeded)
			if x.most != 1 || len(x.order) != 3*test.runs {
				t.Errorf("%d runs at once made attempts, %d in all", x.most, len(x.order))
			}
			for i := range x.order {
				if x.order[i] != x.order[i/3*3] {
					t.Errorf("a run had its turn in the middle of another's: %q", x.order)
					break
				}
			}
		})
	}
}

// A child that is of no group of its callers waits for nobody of the family.
func TestOthersOfTheFamilyDoNotWait(t *testing.T) {
	c, x := newCrew(t), newTurns()
	u := launch(c.with(x), family(calling("child", "other", "other"), map[string]enginetest.Program{"child": steps("hang"), "other": steps("hang")}, "", "child"))
	for range 3 {
		<-x.begun
	}
	close(x.hang)
	<-u.run
	c.ended(u, event.Succeeded)
}

// After a crash siblings take turns, too, and other runs of the group wait for the family.
func TestSiblingsTakeTurnsAfterACrash(t *testing.T) {
	c, x := newCrew(t), newTurns()
	dead := &host{c.with(x)}
	u := launch(dead.Engine, family(calling("child", "child", "child"), map[string]enginetest.Program{"child": steps("a", "hang", "c")}, "", "child"))
	run := <-u.run
	<-x.begun
	dead.Crash()
	if err := <-u.done; !errors.Is(err, enginetest.ErrCrashed) {
		t.Fatal(err)
	}
	x = newTurns()
	close(x.hang)
	e := c.with(x)
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Errorf("it ended %s, %v", end.Status, err)
	}
	if x.most != 1 || len(x.order) != 8 {
		t.Errorf("%d runs at once made attempts, %d in all", x.most, len(x.order))
	}
}

// The newest of siblings can have those before it cancelled: the caller hears of it and goes on, and is not cancelled itself.
func TestTheNewestSibling(t *testing.T) {
	c, x := newCrew(t), newTurns()
	p := calling("child", "child", "child")
	p.Tasks = append(p.Tasks, enginetest.Task{Name: "self"})
	u := launch(c.with(x), family(p, map[string]enginetest.Program{"child": steps("hang")}, "cancel_previous", "child"))
	run := <-u.run
	reader := c.with(x)
	ends := func() map[event.Status]int {
		list, err := eventsOf(reader, run)
		if err != nil {
			t.Fatal(err)
		}
		n := map[event.Status]int{}
		for _, ev := range list {
			if ev.ChildFinished != nil {
				n[ev.ChildFinished.Status]++
			}
		}
		return n
	}
	c.until("two have ended", func() bool { return ends()[event.Cancelled] == 2 || len(u.done) > 0 })
	close(x.hang)
	c.until("it has ended", func() bool { return len(u.done) > 0 })
	if err := <-u.done; err != nil || u.end.Status != event.FailedS {
		t.Errorf("it ended %s, %v", u.end.Status, err)
	}
	if n := ends(); n[event.Cancelled] != 2 || n[event.Succeeded] != 1 {
		t.Errorf("the siblings ended %v", n)
	}
}

// A sibling that waits for a run which waits, through what it calls, for the caller's turn is a circle as any other.
func TestWaitsInACircleOfSiblings(t *testing.T) {
	c := newCrew(t)
	e, other := c.process(), c.process()
	// Of two siblings that need the group "h", the first waits for the run that has it, which calls one of the group "g".
	p := enginetest.Program{Tasks: []enginetest.Task{{Name: "w", Wait: time.Hour}, {Name: "one", Call: "child", After: []string{"w"}}, {Name: "two", Call: "child", After: []string{"w"}}}}
	u := launch(e, family(p, map[string]enginetest.Program{"child": calling("kid"), "kid": steps("a")}, "", "child", "kid=h"))
	c.until("it is driven", driving(e, <-u.run))
	s := enginetest.Program{Tasks: []enginetest.Task{{Name: "w", Wait: time.Hour}, {Name: "one", Call: "back", After: []string{"w"}}}}
	s.Workflows = map[string]enginetest.Program{"back": steps("a")}
	start := s.Start()
	start.First.Vars = map[string]any{"group": "h", "back": "g"}
	v := launch(other, start)
	c.until("the other is driven", driving(other, <-v.run))
	c.until("both have ended", func() bool { c.Advance(time.Hour); return len(u.done) > 0 && len(v.done) > 0 })
	if err := errors.Join(<-u.done, <-v.done); err != nil {
		t.Error(err)
	}
	if (u.end.Status == event.Succeeded) == (v.end.Status == event.Succeeded) {
		t.Errorf("they ended %s and %s: one of them has to give way", u.end.Status, v.end.Status)
	}
}

// What waits behind a sibling ends when the caller is cancelled, or stops.
func TestASiblingsWaitCanBeCalledOff(t *testing.T) {
	c, x := newCrew(t), newTurns()
	e := c.with(x)
	start := family(calling("child", "child", "child"), map[string]enginetest.Program{"child": steps("hang")}, "", "child")
	u := launch(e, start)
	run := <-u.run
	<-x.begun
	if err := e.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	c.until("it has ended", func() bool { return len(u.done) > 0 })
	c.ended(u, event.Cancelled)

	again, err := e.Start(context.Background(), start)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	why := errors.New("ctrl-c")
	go func() { <-x.begun; stop(why) }()
	if _, err := e.Drive(ctx, again, nil); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	close(x.hang)
	if end, err := e.Drive(context.Background(), again, nil); err != nil || end.Status != event.Succeeded {
		t.Errorf("it ended %s, %v", end.Status, err)
	}
}
