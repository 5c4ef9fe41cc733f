package local

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// holding is a run that has its turn in a group for an hour before it calls one of another group, for as long as is given.
func holding(group, of string, long time.Duration) engine.Start {
	s := enginetest.Program{
		Tasks:     []enginetest.Task{{Name: "w", Wait: time.Hour}, {Name: "kid", Call: "child", After: []string{"w"}}},
		Workflows: map[string]enginetest.Program{"child": {Tasks: []enginetest.Task{{Name: "v", Wait: long}}}},
	}.Start()
	s.First.Vars = map[string]any{"group": group, "child": of}
	return s
}

// member is a run of a circle.
type member struct {
	*under
	by *Engine
	id string
}

// Runs whose callees wait for each other's groups would wait for ever. The last one to wait is refused, and the others go on.
func TestWaitsInACircle(t *testing.T) {
	for name, groups := range map[string][]string{"of two": {"x", "y"}, "of three": {"x", "y", "z"}} {
		t.Run(name, func(t *testing.T) {
			c := newCrew(t)
			var all []*member
			for i, g := range groups {
				e := c.process()
				u := &member{under: launch(e, holding(g, groups[(i+1)%len(groups)], time.Minute)), by: e}
				all = append(all, u)
				u.id = <-u.run
				c.until("it is driven", driving(e, u.id))
			}
			c.until("all have ended", func() bool {
				c.Advance(time.Hour)
				return !slices.ContainsFunc(all, func(u *member) bool { return len(u.done) == 0 })
			})
			refused := 0
			for _, u := range all {
				if err := <-u.done; err != nil {
					t.Error(err)
				}
				if u.end.Status == event.Succeeded {
					continue
				}
				refused++
				events, err := eventsOf(u.by, u.id)
				if err != nil {
					t.Fatal(err)
				}
				heard := slices.IndexFunc(events, func(ev event.Event) bool {
					f := ev.ChildFinished
					return f != nil && f.Error.Kind == event.Blocking && f.Error.Reason == event.ReasonGroup && strings.Contains(f.Error.Message, "would never have its turn in the group")
				})
				if heard < 0 {
					t.Errorf("it ended %s, and its journal is %+v", u.end.Status, events)
				}
			}
			if refused != 1 {
				t.Errorf("%d of %d were refused, want one", refused, len(all))
			}
		})
	}
}

// A wait that is not a circle is not refused: for a run that waits, through what it calls, for a third one.
func TestWaitsInARow(t *testing.T) {
	c := newCrew(t)
	var all []*under
	for _, s := range []engine.Start{long("z", ""), holding("y", "z", time.Minute), holding("x", "y", time.Minute)} {
		e := c.process()
		u := launch(e, s)
		all = append(all, u)
		c.until("it is driven", driving(e, <-u.run))
	}
	for _, u := range all {
		c.until("it has ended", func() bool { c.Advance(time.Hour); return len(u.done) > 0 })
		c.ended(u, event.Succeeded)
	}
}

// After a crash the places are taken anew, in another order. A called run that is there already and closes a circle is brought
// to its end.
func TestWaitsInACircleAfterACrash(t *testing.T) {
	c := newCrew(t)
	dead := &host{c.process()}
	a := launch(dead.Engine, holding("x", "y", 10_000*time.Hour))
	run, child := <-a.run, ""
	c.until("its child is there", func() bool {
		c.Advance(time.Hour)
		list, err := dead.List(context.Background(), 0)
		for _, i := range list {
			if i.Parent == run {
				child = i.Run
			}
		}
		return err == nil && child != ""
	})
	dead.Crash()
	<-a.done

	other, e := c.process(), c.process()
	b := launch(other, holding("y", "x", time.Minute))
	c.until("another one has its turn", driving(other, <-b.run))
	leave, err := e.awaitTurn(context.Background(), run, false) // as its caller does when it is driven again
	if err != nil {
		t.Fatal(err)
	}
	c.until("what the other calls waits", func() bool { c.Advance(time.Hour); return c.heard(1)() })
	end, err := e.Drive(context.Background(), child, nil)
	if err != nil || end.Status != event.Cancelled {
		t.Errorf("the child ends %s, %v", end.Status, err)
	}
	leave()
	c.until("the other has ended", func() bool { c.Advance(time.Minute); return len(b.done) > 0 })
	c.ended(b, event.Succeeded)
}

// rowsRead counts the rows that queries give, by running each of them once more, and checks that no query goes through a whole table
// of runs or turns.
func rowsRead(t *testing.T, e *Engine, do func(query) error) (rows int) {
	t.Helper()
	var texts []string
	var values [][]any
	plain := e.reading(context.Background())
	err := do(func(text string, args ...any) (*sql.Rows, error) {
		texts, values = append(texts, text), append(values, args)
		return plain(text, args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		list, err := plain(text, values[i]...)
		if err != nil {
			t.Fatal(err)
		}
		for list.Next() {
			rows++
		}
		list.Close()
		for _, step := range planOf(t, e, text, values[i]...) {
			if strings.HasPrefix(step, "SCAN t") || strings.HasPrefix(step, "SCAN r") {
				t.Errorf("the plan of %q says %q", text, step)
			}
		}
	}
	return rows
}

// planOf returns the steps of the plan of a query.
func planOf(t *testing.T, e *Engine, text string, args ...any) (steps []string) {
	t.Helper()
	rows, err := e.read.Query("EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}

// A called run that starts in a crowded group reads as few rows as one that starts in a small group.
func TestCalledRunInACrowdReadsFewRows(t *testing.T) {
	read := map[int]int{}
	for _, n := range []int{1, 100} {
		e, _ := waitingCrowd(t, n)
		caller, err := e.Start(context.Background(), callers(""))
		if err != nil {
			t.Fatal(err)
		}
		read[n] = rowsRead(t, e, func(q query) error {
			return e.refuseDeadlock(q, &turn{queue: queue{group: "g"}, run: "another", caller: caller})
		})
		e.Close()
	}
	if read[1] != read[100] || read[1] == 0 {
		t.Errorf("in a small group the run reads %d rows, in a crowd %d", read[1], read[100])
	}
}
