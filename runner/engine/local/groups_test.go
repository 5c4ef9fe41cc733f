package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// crew is several processes on one store, whose runs say in the variable "group" where they belong.
type crew struct {
	*store
	t    *testing.T
	mu   sync.Mutex
	told []string
}

func newCrew(t *testing.T) *crew { return &crew{store: newStore(t), t: t} }

func groupVar(_ []byte, first event.RunStarted) (engine.Group, error) {
	name, _ := first.Vars["group"].(string)
	busy, _ := first.Vars["busy"].(string)
	if first.Workflow != "test" {
		name, _ = first.Vars[first.Workflow].(string)
	}
	return engine.Group{Name: name, WhenBusy: engine.WhenBusy(busy)}, nil
}

func (c *crew) process() *Engine {
	return c.open(c.t, Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar, Waiting: func(group, behind string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = append(c.told, group+": "+behind)
	}})
}

// long is a run that waits until it is cancelled, or as long as an hour of the test's time.
func long(group, busy string) engine.Start {
	s := enginetest.Program{Tasks: []enginetest.Task{{Name: "w", Wait: time.Hour}}}.Start()
	s.First.Vars = map[string]any{"group": group, "busy": busy}
	return s
}

// under is a run under way: its id, once it has one, and its end.
type under struct {
	run  chan string
	done chan error
	end  event.End
}

func launch(e *Engine, s engine.Start) *under {
	u := &under{run: make(chan string, 1), done: make(chan error, 1)}
	go func() {
		run, err := e.Start(context.Background(), s)
		u.run <- run
		if err == nil {
			u.end, err = e.Drive(context.Background(), run, nil)
		}
		u.done <- err
	}()
	return u
}

func (c *crew) until(what string, holds func() bool) {
	c.t.Helper()
	for due := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(due) {
			c.t.Fatalf("it never came that %s", what)
		}
	}
}

func (c *crew) heard(n int) func() bool {
	return func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.told) >= n }
}

func (c *crew) ended(u *under, want event.Status) {
	c.t.Helper()
	if err := <-u.done; err != nil || u.end.Status != want {
		c.t.Errorf("it ended %s, %v; want %s", u.end.Status, err, want)
	}
}

func driving(e *Engine, run string) func() bool {
	return func() bool { return slices.ContainsFunc(e.driven(), func(d *drive) bool { return d.run.id == run }) }
}

func TestGroupsQueue(t *testing.T) {
	c := newCrew(t)
	first := c.process()
	a := launch(first, long("g", ""))
	run := <-a.run
	c.until("it is driven", driving(first, run))
	other := launch(c.process(), long("another", "")) // is not concerned
	<-other.run
	b := launch(c.process(), long("g", "queue"))
	c.until("the second waits", c.heard(1))
	if want := []string{"g: run " + run}; !slices.Equal(c.told, want) {
		t.Errorf("told was %q, want %q", c.told, want)
	}
	if list, _ := first.List(context.Background(), 0); len(list) != 2 {
		t.Errorf("%d runs are there, want that of the group and the other", len(list))
	}
	c.Advance(time.Hour)
	c.ended(a, event.Succeeded)
	c.ended(other, event.Succeeded)
	<-b.run
	c.until("the second has begun", func() bool { c.Advance(time.Hour); return len(b.done) > 0 })
	c.ended(b, event.Succeeded)
}

func TestGroupsAreServedInOrder(t *testing.T) {
	c := newCrew(t)
	a := launch(c.process(), long("g", ""))
	<-a.run
	var waiting []*under
	for i := range 4 {
		waiting = append(waiting, launch(c.process(), long("g", "")))
		c.until("one more waits", c.heard(i+1))
	}
	for i, u := range append([]*under{a}, waiting...) {
		if i > 0 {
			<-u.run
		}
		for j := i; j < len(waiting); j++ {
			if len(waiting[j].run) > 0 {
				t.Errorf("while %d is driven, %d has begun", i, j+1)
			}
		}
		c.until("the next has ended", func() bool { c.Advance(time.Hour); return len(u.done) > 0 })
		c.ended(u, event.Succeeded)
	}
}

func TestGroupsSkip(t *testing.T) {
	c := newCrew(t)
	e := c.process()
	a := launch(e, long("g", "skip"))
	run := <-a.run
	b := launch(c.process(), long("g", "skip"))
	skipped := <-b.run
	c.ended(b, event.Skipped)
	list := journalOf(t, e, skipped)
	if s := list[0].RunStarted.Skip; s != fmt.Sprintf("run %s of the group \"g\" is under way", run) || len(list) != 1 {
		t.Errorf("the journal of the skipped one holds %d events, the first says %q", len(list), s)
	}
	if i, err := e.Get(context.Background(), skipped); err != nil || i.Status != event.Skipped {
		t.Errorf("%+v, %v", i, err)
	}
	c.until("the first has ended", func() bool { c.Advance(time.Hour); return len(a.done) > 0 })
	c.ended(a, event.Succeeded)
	d := launch(c.process(), long("g", "skip"))
	<-d.run
	c.until("the third has ended", func() bool { c.Advance(time.Hour); return len(d.done) > 0 })
	c.ended(d, event.Succeeded)
}

func journalOf(t *testing.T, e *Engine, run string) (list []event.Event) {
	t.Helper()
	_, err := e.Drive(context.Background(), run, func(events []event.Event, _ *event.Reaction, _ bool) { list = append(list, events...) })
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestGroupsCancelPrevious(t *testing.T) {
	c := newCrew(t)
	e := c.process()
	a := launch(e, long("g", ""))
	c.until("it is driven", driving(e, <-a.run))
	waits := launch(c.process(), long("g", ""))
	c.until("the second waits", c.heard(1))
	b := launch(c.process(), long("g", "cancel_previous"))
	c.ended(a, event.Cancelled)
	<-waits.run
	if err := <-waits.done; !errors.Is(err, engine.ErrSuperseded) {
		t.Errorf("the one that waited gets %v", err)
	}
	<-b.run
	c.until("the third has ended", func() bool { c.Advance(time.Hour); return len(b.done) > 0 })
	c.ended(b, event.Succeeded)
}

// A dead process holds no place. Its run, when it goes on, waits as any other.
func TestGroupsOfTheDead(t *testing.T) {
	c := newCrew(t)
	dead := &host{c.process()}
	a := launch(dead.Engine, long("g", ""))
	run := <-a.run
	c.until("it is driven", driving(dead.Engine, run))
	dead.Crash()
	if err := <-a.done; !errors.Is(err, enginetest.ErrCrashed) {
		t.Fatal(err)
	}
	e := c.process()
	b := launch(e, long("g", ""))
	c.until("the second is driven", driving(e, <-b.run))
	again := c.process()
	done := make(chan error, 1)
	go func() { _, err := again.Drive(context.Background(), run, nil); done <- err }()
	c.until("the first waits", c.heard(1))
	c.until("the second has ended", func() bool { c.Advance(time.Hour); return len(b.done) > 0 })
	c.ended(b, event.Succeeded)
	c.until("the first has ended", func() bool { c.Advance(time.Hour); return len(done) > 0 })
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A run that another process drives is refused at once, whoever waits in its group; and one that is taken over keeps its place, so
// that nobody waits for the process that lost it.
func TestGroupsOfTheDriven(t *testing.T) {
	c := newCrew(t)
	first := c.process()
	a := launch(first, long("g", ""))
	run := <-a.run
	c.until("the first is driven", driving(first, run))
	b := launch(c.process(), long("g", ""))
	c.until("the second waits", c.heard(1))
	if _, err := c.process().Drive(context.Background(), run, nil); !errors.Is(err, engine.ErrOwned) {
		t.Errorf("got %v", err)
	}
	taker := c.open(t, Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar, TakeOver: true})
	done := make(chan error, 1)
	go func() { _, err := taker.Drive(context.Background(), run, nil); done <- err }()
	if err := <-a.done; !errors.Is(err, engine.ErrFenced) {
		t.Errorf("the first driver: %v", err)
	}
	if len(b.done) > 0 || len(b.run) > 0 {
		t.Error("the second began while the first was under way")
	}
	c.until("the first has ended", func() bool { c.Advance(time.Hour); return len(done) > 0 })
	if err := <-done; err != nil {
		t.Error(err)
	}
	<-b.run
	c.until("the second has ended", func() bool { c.Advance(time.Hour); return len(b.done) > 0 })
	c.ended(b, event.Succeeded)
}

func TestAWaitForAGroupCanBeCalledOff(t *testing.T) {
	c := newCrew(t)
	a := launch(c.process(), long("g", ""))
	<-a.run
	ctx, stop := context.WithCancelCause(context.Background())
	why := errors.New("ctrl-c")
	e := c.process()
	done := make(chan error, 1)
	go func() { _, err := e.Start(ctx, long("g", "")); done <- err }()
	c.until("it waits", c.heard(1))
	stop(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	for i := range 200 { // most of them while it asks the store who is before it
		ctx, stop := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Duration(i)*10*time.Microsecond, func() { stop(why) })
		if _, err := e.Start(ctx, long("g", "")); !errors.Is(err, why) {
			t.Fatalf("called off after %d us: %v", 10*i, err)
		}
	}
	c.until("the first has ended", func() bool { c.Advance(time.Hour); return len(a.done) > 0 })
	c.ended(a, event.Succeeded)
}

// So can that of a run that was left and is taken up again while another of its group is under way.
func TestARunThatIsTakenUpAgainCanBeCalledOff(t *testing.T) {
	c := newCrew(t)
	first := c.process()
	left, err := first.Start(context.Background(), long("g", ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	a := launch(c.process(), long("g", ""))
	<-a.run
	e, why := c.process(), errors.New("ctrl-c")
	for i := range 200 { // most of them while it asks the store who is before it
		ctx, stop := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Duration(i)*10*time.Microsecond, func() { stop(why) })
		if _, err := e.Drive(ctx, left, nil); !errors.Is(err, why) {
			t.Fatalf("called off after %d us: %v", 10*i, err)
		}
	}
	c.until("the other has ended", func() bool { c.Advance(time.Hour); return len(a.done) > 0 })
	c.ended(a, event.Succeeded)
}

// A child of the group of one of its callers is let in with it; one of another group waits, and can be called off.
func TestGroupsOfChildren(t *testing.T) {
	c := newCrew(t)
	e := c.process()
	family := func(group, of string) engine.Start {
		s := enginetest.Program{
			Tasks:     []enginetest.Task{{Name: "kid", Call: "child"}},
			Workflows: map[string]enginetest.Program{"child": {Tasks: []enginetest.Task{{Name: "w", Wait: time.Minute}}}},
		}.Start()
		s.First.Vars = map[string]any{"group": group, "child": of, "busy": "skip"}
		return s
	}
	same := launch(e, family("g", "g"))
	<-same.run
	c.until("it has ended", func() bool { c.Advance(time.Minute); return len(same.done) > 0 })
	c.ended(same, event.Succeeded)

	a := launch(e, long("h", ""))
	<-a.run
	waits := launch(c.process(), family("g", "h"))
	run := <-waits.run
	c.until("the child waits", c.heard(1))
	if err := e.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	c.ended(waits, event.Cancelled)
	if list, _ := e.List(context.Background(), 0); slices.ContainsFunc(list, func(i engine.Info) bool { return i.Parent == run }) {
		t.Errorf("the child was made: %s", strings.TrimSpace(fmt.Sprint(list)))
	}
	c.until("the other has ended", func() bool { c.Advance(time.Hour); return len(a.done) > 0 })
	c.ended(a, event.Succeeded)
}

func TestUnknownWhenBusyIsRefused(t *testing.T) {
	e := &Engine{options: Options{Group: func([]byte, event.RunStarted) (engine.Group, error) {
		return engine.Group{Name: "g", WhenBusy: "later"}, nil
	}}}
	if _, err := e.groupOf(&engine.Start{}); err == nil || !strings.Contains(err.Error(), `unknown when_busy "later"`) {
		t.Errorf("the error is %v", err)
	}
}
