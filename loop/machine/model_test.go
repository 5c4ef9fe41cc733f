package machine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

var (
	seeds = flag.Int("loop.seeds", 3, "how many random months of loops")
	from  = flag.Uint64("loop.from", 1, "the first seed")
)

// month is a month of two loops that share agents' work: a queue of the store, and a list elsewhere that fails, changes and lies. Drivers
// die, the process dies, people pause.
type month struct {
	*office
	seed   uint64
	r      *rand.Rand
	loops  []string                // the runs of the loops
	live   map[string]string       // by item: the run that has a live attempt
	who    map[string]string       // by run of an item: the item
	began  map[string][]event.Time // by loop
	items  []*far                  // elsewhere
	honest event.Time              // from then on the list says what is
	done   map[string]int          // succeeded runs by item
	ended  map[string]bool         // runs that were counted
	bad    string
}

// far is an item of the list elsewhere.
type far struct {
	event.Item
	closed   bool
	reported int
	token    uint64 // under which it was reported
}

func (m *month) fail(format string, args ...any) {
	if m.bad == "" {
		m.bad = fmt.Sprintf(format, args...)
	}
}

// Attempt implements sim.World.
func (m *month) Attempt(a event.Attempt, r *rand.Rand) (event.AttemptFinished, time.Duration) {
	f := event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK}
	took := time.Duration(r.Int64N(int64(20 * time.Minute)))
	if a.Source != nil {
		took = time.Duration(r.Int64N(int64(5 * time.Second)))
		m.source(a.Source, &f, r)
		return f, took
	}
	item := a.Agent.Task
	if run, live := m.live[item]; live && run != a.Run {
		m.fail("item %s is done by run %s and by run %s at once", item, run, a.Run)
	}
	m.live[item], m.who[a.Run] = a.Run, item
	if r.IntN(12) == 0 {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, Message: "no"}
	}
	return f, took
}

// source answers for the list elsewhere.
func (m *month) source(q *event.SourceRequest, f *event.AttemptFinished, r *rand.Rand) {
	if r.IntN(15) == 0 {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonHTTP, Message: "no answer"}
		return
	}
	if q.Verb == event.SourceList {
		items := []any{}
		for _, i := range m.items {
			if !i.closed || m.store.Now() < m.honest && r.IntN(4) == 0 { // sometimes it lies, and lists what is closed as open
				items = append(items, i.Object())
			}
		}
		f.Output = map[string]any{"items": items}
		return
	}
	for _, i := range m.items {
		if i.ID != q.Item.ID {
			continue
		}
		if q.Verb == event.SourceReport && q.Outcome.Status == event.ItemClosed {
			if i.closed && i.token == q.Token { // the answer got lost, and it is asked again
				f.Output = map[string]any{"ok": true, "closed": true}
				return
			}
			if i.closed {
				m.fail("item %s was reported as closed though it was", i.ID)
			}
			i.closed, i.token = true, q.Token
			i.reported++
		}
		f.Output = map[string]any{"ok": true, "closed": i.closed && q.Verb != event.SourceReport}
	}
}

func (m *month) see(run string, events []event.Event, r *event.Reaction, replayed bool) {
	m.watch(run, events, r, replayed)
	if slices.Contains(m.loops, run) {
		if debug := os.Getenv("LOOPDBG"); debug != "" && !replayed {
			for i := range events {
				if a := events[i].AttemptFinished; a != nil {
					fmt.Fprintln(os.Stderr, run, events[i].Seq, events[i].At, "answer", a.Node, a.Ticket, a.Outcome, a.Error)
				} else {
					fmt.Fprintln(os.Stderr, run, events[i].Seq, events[i].At, events[i].Kind(), events[i].Node())
				}
			}
			for _, c := range r.Commands {
				if c.Start != nil {
					fmt.Fprintln(os.Stderr, "   start", c.Start.Node, c.Start.Ticket, c.Start.Kind)
				}
			}
			for _, tr := range r.Transitions {
				fmt.Fprintln(os.Stderr, "   ", tr.Node, tr.To, tr.Reason)
			}
		}
		for i := range r.Commands {
			if c := r.Commands[i].StartChild; c != nil && !replayed && c.Cause != nil && m.who[c.Run] == "" {
				m.who[c.Run] = c.Cause.ID
				m.began[run] = append(m.began[run], events[len(events)-1].At)
			}
		}
		return
	}
	item := m.who[run]
	for i := range events {
		if (events[i].AttemptFinished != nil || events[i].DriverChanged != nil) && m.live[item] == run {
			delete(m.live, item)
		}
	}
	for i := range r.Commands {
		if e := r.Commands[i].End; e != nil && e.Status == event.Succeeded && !m.ended[run] { // a batch that was durable when the process died is seen in the replay alone
			m.ended[run] = true
			m.done[item]++
		}
	}
}

// dropLive forgets the attempts of drivers that have died: they are dead with them.
func (m *month) dropLive() { clear(m.live) }

func newMonth(t *testing.T, seed uint64) *month {
	r := rand.New(rand.NewPCG(seed, 77))
	var b strings.Builder
	b.WriteString("workflow \"do\" {\n  input \"id\" { type = string }\n  input \"worker\" { type = string }\n  step \"work\" {\n    agent = pool.team[input.worker]\n    task = input.id\n    retry { max_attempts = 2 }\n  }\n}\n")
	names := []string{}
	for i := range 2 + r.IntN(3) {
		name := fmt.Sprintf("a%d", i)
		names = append(names, "agent."+name)
		fmt.Fprintf(&b, "agent \"%s\" {\n  type = \"exec\"\n  command = [\"x\"]\n  concurrency = %d\n  capabilities = %s\n}\n", name, 1+r.IntN(2), []string{`["go"]`, `["go", "gpu"]`, `["docs"]`}[r.IntN(3)])
	}
	fmt.Fprintf(&b, "pool \"team\" { members = [%s] }\n", strings.Join(names, ", "))
	for _, l := range []string{"one", "two"} {
		limits := ""
		if r.IntN(2) == 0 {
			limits = fmt.Sprintf("  limits { tasks_per_hour = %d }\n", 1+r.IntN(4))
		}
		fmt.Fprintf(&b, "loop \"%s\" {\n  agents = [pool.team]\n  lease = \"5m\"\n  idle_max = \"6h\"\n  source \"dispatch\" {}\n  source \"improvement\" {\n    rotate = [workflow.tidy]\n    every = \"48h\"\n  }\n  handle {\n    workflow = workflow.do\n    with = { id = item.id, worker = worker }\n  }\n%s}\n", l, limits)
	}
	b.WriteString("workflow \"tidy\" {\n  step \"s\" { value = 1 }\n}\n")
	m := &month{office: newOffice(t, b.String()), seed: seed, r: r, live: map[string]string{}, who: map[string]string{}, began: map[string][]event.Time{}, done: map[string]int{}, ended: map[string]bool{}}
	for i := range m.p.Loops { // the list elsewhere stands between the two
		s := &m.p.Loops[i].Sources
		*s = slices.Insert(*s, 1, ir.Source{Name: "list", Kind: ir.SourceExec})
	}
	m.store = sim.NewStore(seed)
	m.o.World, m.o.Watch = m, m.see
	m.o.Faults = sim.Faults{CrashBeforeCommit: 0.0005, CrashAfterCommit: 0.0005, CrashMidway: 0.0005, Twice: 0.02}
	m.host = sim.New(m.store, m.o)
	for _, l := range []string{"one", "two"} {
		definition := m.p.Canonical()
		h := journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: l}
		run, err := m.host.Start(context.Background(), engine.Start{Header: h, Definition: definition, First: event.RunStarted{Workflow: l, Loop: &event.LoopStart{}}})
		if err != nil {
			t.Fatal(err)
		}
		m.loops = append(m.loops, run)
		m.host.Add(run)
	}
	return m
}

// plan draws what happens in the month.
func (m *month) plan() {
	start, r := m.store.Now(), m.r
	m.honest = start.Add(20 * 24 * time.Hour)
	some := func() time.Duration { return time.Duration(r.Int64N(int64(20 * 24 * time.Hour))) }
	var moments []sim.Moment
	at := func(d time.Duration, do func() error) {
		moments = append(moments, sim.Moment{At: start.Add(d), Do: do})
	}
	for i := range 5 + r.IntN(20) {
		it := event.Item{ID: fmt.Sprintf("d%d", i), Title: "t", Priority: r.IntN(3)}
		if r.IntN(3) == 0 {
			it.Capabilities = []string{[]string{"go", "gpu", "docs", "cook"}[r.IntN(4)]}
		}
		for range r.IntN(3) {
			it.Needs = append(it.Needs, fmt.Sprintf("d%d", r.IntN(25)))
		}
		at(some(), func() error { m.dispatch(it); return nil })
	}
	for i := range r.IntN(12) {
		it := &far{Item: event.Item{ID: fmt.Sprintf("f%d", i), Title: "t"}}
		at(some(), func() error { m.items = append(m.items, it); return nil })
		if r.IntN(4) == 0 {
			at(some(), func() error { it.closed = true; return nil }) // somebody else did it
		}
	}
	for range r.IntN(8) {
		run, away := m.loops[r.IntN(2)], time.Duration(r.Int64N(int64(20*time.Minute)))
		at(some(), func() error { m.dropLive(); m.host.Kill(run, away); return nil })
	}
	for range r.IntN(4) {
		l, d := []string{"one", "two"}[r.IntN(2)], time.Duration(1+r.Int64N(int64(24*time.Hour)))
		agent := []string{"", "a0", "a1"}[r.IntN(3)]
		at(some(), func() error {
			m.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopPause, Loop: l, Agent: agent, For: d}})
			return nil
		})
	}
	at(30*24*time.Hour, func() error {
		m.settled()
		for _, l := range []string{"one", "two"} {
			m.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: l}})
		}
		return nil
	})
	slices.SortStableFunc(moments, func(a, b sim.Moment) int { return int(min(1, max(-1, a.At.Sub(b.At)))) })
	for _, x := range moments {
		m.host.Schedule(x)
	}
	m.o.Moments = nil
}

// settled checks that nothing is left that somebody could do: ten quiet days have passed.
func (m *month) settled() {
	able := map[string]bool{}
	for i := range m.p.Agents {
		for _, c := range m.p.Agents[i].Capabilities {
			able[c] = true
		}
	}
	v := m.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch, All: true}})
	closed := map[string]bool{}
	var open []map[string]any
	for _, i := range v.(map[string]any)["items"].([]any) {
		o := i.(map[string]any)
		id := o["id"].(string)
		switch o["state"] {
		case "closed":
			closed[id] = true
			if n := m.done[id]; n != 1 {
				m.fail("dispatch %s is closed, and %d runs of it succeeded", id, n)
			}
		case "dead":
		default:
			open = append(open, o)
		}
	}
	for _, o := range open {
		waits := false
		needs, _ := o["needs"].([]any)
		for _, n := range needs {
			waits = waits || !closed[n.(string)]
		}
		caps, _ := o["capabilities"].([]any)
		for _, c := range caps {
			waits = waits || !able[c.(string)]
		}
		if !waits {
			m.fail("dispatch %s is left: %v", o["id"], o["state"])
		}
	}
	v = m.ask(event.StoreRequest{Claims: true})
	dead := map[string]bool{}
	for _, row := range v.([]any) {
		c, err := event.ClaimOf(row)
		if err != nil {
			m.fail("%v", err)
		}
		dead[c.Item] = c.State == event.ClaimDead
		if c.State == event.ClaimHeld {
			m.fail("the claim of %s is held at the end of ten quiet days", c.Item)
		}
	}
	for _, i := range m.items {
		if i.reported > 1 {
			m.fail("item %s was reported %d times", i.ID, i.reported)
		}
		if !i.closed && !dead["list/"+i.ID] {
			m.fail("item %s of the list is left", i.ID)
		}
	}
}

// TestRandomMonths drives two loops through random months.
func TestRandomMonths(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 10)
	}
	crashes, runs := 0, 0
	for seed := *from; seed < *from+uint64(n); seed++ {
		m := newMonth(t, seed)
		m.plan()
		for {
			err := m.host.DriveAll(context.Background())
			if errors.Is(err, sim.ErrCrashed) {
				crashes++
				m.dropLive()
				continue
			}
			if err != nil {
				m.fail("%v", err)
			}
			break
		}
		for i, run := range m.loops {
			spec := &m.p.Loops[i]
			if spec.Limits == nil {
				continue
			}
			most, _ := spec.Limits.TasksPerHour.Const.(float64)
			began := m.began[run]
			for j := int(most); j < len(began); j++ {
				if began[j].Sub(began[j-int(most)]) < time.Hour {
					m.fail("loop %s began %v items within an hour", spec.Name, most+1)
				}
			}
		}
		runs += len(m.who)
		if m.bad != "" {
			t.Fatalf("seed %d: %s\n%s", seed, m.bad, strings.Join(m.lines, "\n"))
		}
	}
	t.Logf("%d months: %d runs of items, %d crashes", n, runs, crashes)
	if runs < 10*n {
		t.Error("too little happens in these months")
	}
}
