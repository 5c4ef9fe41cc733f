package machine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// trees are the worktrees of an office.
type trees struct {
	made, removed []string // runs
	lines         []string // where attempts of agents worked
	refuse        bool
}

func (w *trees) work(a event.Attempt) (event.AttemptFinished, time.Duration) {
	f := event.AttemptFinished{Outcome: event.OK}
	q := a.Worktree
	if q == nil {
		w.lines = append(w.lines, a.Dir)
		return f, time.Minute
	}
	if w.refuse {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Blocking, Reason: event.ReasonFail, Message: "not a git repository"}
		return f, time.Second
	}
	tree := event.Worktree{Root: "/w/" + q.Run, Dir: "/w/" + q.Run + "/app", Branch: q.Branch}
	if q.Remove {
		w.removed = append(w.removed, q.Run)
		tree.Kept = "1 commit is not merged"
	} else {
		w.made = append(w.made, q.Run)
	}
	f.Output = tree.Object()
	return f, time.Second
}

// The run of an item works in a worktree of its own, and the loop says that it stays.
func TestWorktree(t *testing.T) {
	x := newOffice(t, withLoop("worktree = true", ""))
	w := &trees{}
	x.work = w.work
	x.dispatch(event.Item{ID: "a.B/c", Title: "a"})
	x.start(event.LoopStart{UntilIdle: true})
	x.drive()
	run := machine.RunOf("dispatch/a.B/c", 1)
	if len(w.lines) != 1 || w.lines[0] != "/w/"+run+"/app" || strings.Join(w.made, " ") != run || strings.Join(w.removed, " ") != run {
		t.Errorf("%+v", w)
	}
	if got := x.said("stays, with branch flowrun/l/a-b-c-" + run[:6] + ": 1 commit is not merged"); len(got) != 1 {
		t.Errorf("%q", x.lines)
	}
}

// Where no worktree can be made, no run begins: the item is free again, and the loop says why.
func TestNoWorktree(t *testing.T) {
	x := newOffice(t, withLoop("worktree = true", ""))
	w := &trees{refuse: true}
	x.work = w.work
	x.dispatch(event.Item{ID: "a", Title: "a"})
	x.start(event.LoopStart{})
	begin := x.store.Now()
	x.host.Schedule(sim.Moment{At: begin.Add(time.Hour), Do: func() error { w.refuse = false; return nil }})
	x.stopAt(begin.Add(2 * time.Hour))
	x.drive()
	if len(w.lines) != 1 || x.states() != "a:closed" {
		t.Errorf("%+v, %s", w, x.states())
	}
	if got := x.said("worktree of item a cannot be made: not a git repository"); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// The driver dies at many points: the item still has one worktree, which is removed when its run has ended.
func TestWorktreeUnderCrashes(t *testing.T) {
	for at := 5; ; at += 3 {
		x := newOffice(t, withLoop("worktree = true", ""))
		w := &trees{}
		x.work = w.work
		x.dispatch(event.Item{ID: "a", Title: "a"})
		x.start(event.LoopStart{UntilIdle: true})
		x.o.Faults = sim.Faults{CrashAt: at}
		x.host.Close()
		x.host = sim.New(x.store, x.o)
		_, err := x.host.Drive(context.Background(), x.run, nil)
		crashed := err == sim.ErrCrashed
		if crashed {
			x.drive()
		} else if err != nil {
			t.Fatal(at, err)
		}
		run := machine.RunOf("dispatch/a", 1)
		if x.states() != "a:closed" || len(w.made) == 0 || len(w.removed) == 0 || strings.Trim(strings.Join(w.made, "")+strings.Join(w.removed, ""), run) != "" {
			t.Fatalf("crash %d: %s, %+v", at, x.states(), w)
		}
		for _, dir := range w.lines {
			if dir != "/w/"+run+"/app" {
				t.Errorf("crash %d: the agent works in %q", at, dir)
			}
		}
		if !crashed {
			return
		}
	}
}

// A parked item keeps its worktree over runs of the loop.
func TestParkedWorktree(t *testing.T) {
	x := newOffice(t, strings.Replace(asking, "  source \"dispatch\" {}\n", "  source \"dispatch\" {}\n  worktree = true\n", 1))
	x.follows = true
	w := &trees{}
	x.work = w.work
	begin := x.store.Now()
	x.dispatch(event.Item{ID: "a", Title: "a", Labels: []string{"ask"}})
	x.hour(40, func() {
		if len(w.removed) > 0 {
			t.Error("it is removed while its run waits")
		}
		x.decide("a", event.WordApprove)
	})
	x.start(event.LoopStart{Number: 1})
	x.stopAt(begin.Add(41 * time.Hour))
	x.drive()
	if run := machine.RunOf("dispatch/a", 1); strings.Join(w.made, " ") != run || strings.Join(w.removed, " ") != run {
		t.Errorf("%+v", w)
	}
	if ended, _ := x.sessions(); len(ended) < 2 {
		t.Errorf("%d runs of the loop", len(ended))
	}
}
