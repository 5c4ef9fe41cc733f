package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	return c.open(c.t, Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar, Waiting: func(_ string, turn engine.Turn) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = append(c.told, turn.Group+": run "+turn.Behind)
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
	return func() bool {
		return slices.ContainsFunc(e.listDrives(), func(d *drive) bool { return d.run.id == run })
	}
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
	second := <-b.run
	info, err := first.Get(context.Background(), second)
	if err != nil || info.Status != event.Pending || info.Events != 0 || info.Interrupted() {
		t.Errorf("the second is %+v, %v", info, err)
	}
	if want := (engine.Turn{Group: "g", Behind: run}); info.Turn == nil || *info.Turn != want {
		t.Errorf("the second waits for %v, want %v", info.Turn, want)
	}
	c.Advance(time.Hour)
	c.ended(a, event.Succeeded)
	c.ended(other, event.Succeeded)
	c.until("the second has begun", func() bool { c.Advance(time.Hour); return len(b.done) > 0 })
	c.ended(b, event.Succeeded)
}

func TestGroupsAreServedInOrder(t *testing.T) {
	c := newCrew(t)
	reader := c.process()
	var all []*under
	var ids []string
	for i := range 5 {
		all = append(all, launch(c.process(), long("g", "")))
		ids = append(ids, <-all[i].run)
		c.until("one more waits", c.heard(i))
	}
	for i, u := range all {
		for j := i + 1; j < len(all); j++ {
			if info, err := reader.Get(context.Background(), ids[j]); err != nil || info.Status != event.Pending {
				t.Errorf("while %d is driven, %d is %s, %v", i, j, info.Status, err)
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
	if s := list[0].RunStarted.Skip; s != fmt.Sprintf("run %s of the group \"g\" is running", run) || len(list) != 1 {
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
	c.ended(waits, event.Cancelled)
	if list := journalOf(t, e, <-waits.run); len(list) != 1 || list[0].RunStarted == nil || list[0].RunStarted.Cancelled != `a newer run of the group "g"` {
		t.Errorf("the one that waited has the journal %+v", list)
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
	second := <-b.run
	if info, err := taker.Get(context.Background(), second); err != nil || info.Status != event.Pending {
		t.Error("the second began while the first was under way")
	}
	c.until("the first has ended", func() bool { c.Advance(time.Hour); return len(done) > 0 })
	if err := <-done; err != nil {
		t.Error(err)
	}
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
	run, err := e.Start(ctx, long("g", ""))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, err := e.Drive(ctx, run, nil); done <- err }()
	c.until("it waits", c.heard(1))
	stop(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	for i := range 200 { // most of them while it asks the store who is before it
		ctx, stop := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Duration(i)*10*time.Microsecond, func() { stop(why) })
		if _, err := e.Drive(ctx, run, nil); !errors.Is(err, why) {
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
	c.until("the run that was left has ended", func() bool {
		c.Advance(time.Hour)
		end, err := e.Drive(context.Background(), left, nil)
		return err == nil && end.Status == event.Succeeded
	})
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
	tree, err := e.Tree(context.Background(), run)
	if err != nil || len(tree) != 2 || tree[1].Status != event.Cancelled || tree[1].Events != 1 {
		t.Errorf("the run and its child: %+v, %v", tree, err)
	}
	c.until("the other has ended", func() bool { c.Advance(time.Hour); return len(a.done) > 0 })
	c.ended(a, event.Succeeded)
}

// TestAQueuedRunUnderKills kills the process of a run that waits for its turn, 20 times while it waits and then before and after
// each commit with which it begins. The run is listed all the time, and begins once.
func TestAQueuedRunUnderKills(t *testing.T) {
	c := newCrew(t)
	holder, err := Open(c.dir, Options{Factory: enginetest.Factory, Executor: answersOK, Group: groupVar})
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	first := launch(holder, long("g", ""))
	before := <-first.run
	const run = "queued"
	listed := func(want event.Status) engine.Info {
		t.Helper()
		list, err := holder.List(context.Background(), 0)
		if err != nil || len(list) != 2 || list[0].Run != run || list[0].Status != want {
			t.Fatalf("listed is %+v, %v; want %s with status %s", list, err, run, want)
		}
		return list[0]
	}
	for range 20 {
		p := startChild(t, childOrder{Dir: c.dir, Run: run, Group: "g"})
		if l := p.line(); l != "waits" {
			t.Fatalf("the process says %q", l)
		}
		if i := listed(event.Pending); i.Driver != p.Process.Pid || i.Turn == nil || *i.Turn != (engine.Turn{Group: "g", Behind: before}) {
			t.Fatalf("while it waits, the list says %+v, %v", i, i.Turn)
		}
		p.Process.Kill()
		p.Wait()
		if i := listed(event.Pending); !i.Interrupted() || i.Turn != nil || i.Crashed {
			t.Fatalf("after the kill, the list says %+v", i)
		}
	}
	if err := holder.Cancel(context.Background(), before, ""); err != nil {
		t.Fatal(err)
	}
	c.ended(first, event.Cancelled)
	kills := 0
	for n, killed := 1, true; killed; n++ {
		for _, after := range []bool{false, true} {
			killed = startChild(t, childOrder{Dir: c.dir, Run: run, Group: "g", KillAt: n, KillAfter: after}).Wait() != nil
			if killed {
				kills++
			}
		}
	}
	if kills < 4 {
		t.Errorf("it was killed %d times on its way, which proves little", kills)
	}
	if i := listed(event.Succeeded); i.Driver != 0 {
		t.Errorf("at the end, the list says %+v", i)
	}
	events, err := eventsOf(holder, run)
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range events {
		if (ev.RunStarted != nil) != (i == 0) {
			t.Errorf("event %d of %d is %s", i+1, len(events), ev.Kind())
		}
	}
	var turns int
	if err := holder.read.QueryRow("SELECT count(*) FROM turns").Scan(&turns); err != nil || turns != 0 {
		t.Errorf("%d turns are left, %v", turns, err)
	}
}
