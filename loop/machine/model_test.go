package machine_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

var (
	seeds   = flag.Int("loop.seeds", 3, "how many random months of loops")
	from    = flag.Uint64("loop.from", 1, "the first seed")
	tight   = flag.Int("loop.tight", 1, "how many months of leases that run out while agents work")
	verbose = flag.Bool("loop.log", false, "print what happens in the months")
)

const (
	day   = 24 * time.Hour
	busy  = 20 * day // of a month; in the ten days after them nothing goes wrong
	month = 30 * day
	// maxJournal is far above what a month of this size needs in a loop.
	maxJournal = 10_000
)

// workplace is a store with two loops in a random month: a queue of the store, a list elsewhere and a roadmap that fail, change and lie.
// Drivers and processes die, people pause, stop and answer, and the clock jumps.
type workplace struct {
	*office
	seed    uint64
	r       *rand.Rand
	start   event.Time
	skew    time.Duration // of the clock so far
	jumped  event.Time    // real time of the last jump
	back    bool          // one of the jumps went back
	setBack time.Duration // how far all of these went back
	ahead   time.Duration // how far the others went forward
	loops   []*hall
	live    map[string]string // by item: the run that has a live attempt
	who     map[string]string // by run of an item: the item
	seen    map[string]uint64 // by run: the last event that was looked at
	lists   map[string][]*far // by source
	done    map[string]int    // succeeded runs by item
	upset   int               // how often something happened from outside that may delay work
	deaths  int               // of drivers and processes
	kinds   map[string]int    // what happened, for the test of the test
	bad     string
	trees   map[string]string // by run: made, or removed
	tickets map[string]bool
	asks    map[string]bool        // runs that may ask somebody
	drawn   map[string]*event.Item // what was drawn, and is closed if somebody else has ended it
}

// hall is one of the loops.
type hall struct {
	name    string
	spec    *ir.Loop
	run     string // the newest
	ended   bool
	number  uint64 // of the next run; 0: there was none
	carry   any
	lease   time.Duration
	idle    time.Duration
	perHour int
	inARow  int
	cost    float64
	begun   []moment
	spent   []float64 // beside paid
	paid    []moment
	failed  int             // items in a row
	closed  bool            // too many have failed
	away    event.Time      // real time until which nobody drives it
	halt    event.Time      // real time since when nothing may begin; 0: it may
	stopped map[string]bool // agents after a fatal failure
	pauses  map[string]pause
	trees   bool                  // its runs have worktrees
	quota   bool                  // it waits for the quota tracker
	success float64               // the target of success_rate; 0: none
	missed  map[string]bool       // by target: the loop has said so
	told    map[string]event.Time // by target: when it said something last
	ends    []ended               // of work on items
}

type ended struct {
	at     event.Time
	closed bool
}

// moment is a moment on a stopwatch, and how far the clock was set forward before it. A limit of an hour or a day cannot tell the two apart. A
// clock that is set back shortens nothing, also where the next run of the loop begins with it.
type moment struct {
	real  event.Time
	ahead time.Duration
}

// since is the longest time that can seem to have passed.
func (m moment) since(o moment) time.Duration { return m.real.Sub(o.real) + m.ahead - o.ahead }

// pause is in force from a moment of real time, and until one of the clock.
type pause struct {
	from  event.Time // in real time
	until event.Time // on the clock
	long  time.Duration
}

// far is an item of a list elsewhere.
type far struct {
	event.Item
	closed   bool
	reported int
	token    uint64 // under which it was reported
}

func (m *workplace) fail(format string, args ...any) {
	if m.bad == "" {
		m.bad = fmt.Sprintf(format, args...)
	}
}

// real is the time without the jumps of the clock.
func (m *workplace) real() event.Time { return m.store.Now().Add(-m.skew) }

func (m *workplace) quiet() bool { return m.real().Sub(m.start) >= busy }

func (m *workplace) log(format string, args ...any) {
	if *verbose {
		fmt.Fprintf(os.Stderr, "%s (%s) %s\n", m.real().Sub(m.start), m.store.Now(), fmt.Sprintf(format, args...))
	}
}

// Attempt implements sim.World.
func (m *workplace) Attempt(a event.Attempt, r *rand.Rand) (event.AttemptFinished, time.Duration) {
	f := event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK}
	switch {
	case a.Source != nil:
		m.source(a.Source, &f, r)
		return f, time.Duration(r.Int64N(int64(5 * time.Second)))
	case a.Worktree != nil:
		m.worktree(a.Worktree, &f, r)
		return f, time.Duration(r.Int64N(int64(5 * time.Second)))
	case a.Agent == nil:
		m.kinds["message"]++
		return f, time.Second
	}
	took := time.Duration(r.Int64N(int64(5 * time.Minute)))
	if r.IntN(12) == 0 {
		took *= 20
	}
	item := a.Agent.Task
	if item[0] == 'l' { // longer than a lease
		took += time.Hour
	}
	if run, live := m.live[item]; live && run != a.Run {
		m.fail("item %s is done by run %s and by run %s at once", item, run, a.Run)
	}
	m.live[item], m.who[a.Run] = a.Run, item
	f.Usage = &event.Usage{Attempts: 1, CostUSD: float64(r.IntN(4))}
	if fate := r.IntN(60); fate < 6 {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, Message: "no"}
		if fate == 0 {
			f.Error.Kind = event.Fatal
		}
	}
	if strings.HasPrefix(a.Node, "all/work") {
		m.asks[a.Run] = true
	}
	m.log("attempt of %s in run %s takes %s: %s", item, a.Run, took, f.Outcome)
	return f, took
}

// worktree makes and removes worktrees, and sometimes cannot.
func (m *workplace) worktree(q *event.WorktreeRequest, f *event.AttemptFinished, r *rand.Rand) {
	w := event.Worktree{Root: "/w/" + q.Run, Dir: "/w/" + q.Run + "/app", Branch: q.Branch}
	if !m.quiet() && r.IntN(15) == 0 {
		m.upset++
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, Message: "git hangs"}
		return
	}
	switch {
	case !q.Remove && m.trees[q.Run] == "removed":
		m.fail("the worktree of run %s is made again", q.Run)
	case !q.Remove:
		m.trees[q.Run] = "made"
	case m.live[m.who[q.Run]] == q.Run && m.who[q.Run] != "":
		m.fail("the worktree of run %s is removed while an attempt works in it", q.Run)
	default:
		m.trees[q.Run] = "removed"
		m.kinds["worktree"]++
		if r.IntN(4) == 0 {
			w.Kept = "1 commit is not merged"
		}
	}
	f.Output = w.Object()
}

// source answers for a list elsewhere.
func (m *workplace) source(q *event.SourceRequest, f *event.AttemptFinished, r *rand.Rand) {
	lies := func(one int) bool { return !m.quiet() && r.IntN(one) == 0 }
	if r.IntN(15) == 0 {
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Transient, Reason: event.ReasonHTTP, Message: "no answer"}
		return
	}
	list := m.lists[q.Source]
	if q.Verb == event.SourceList {
		items := []any{}
		for _, i := range list {
			if q.Source == "roadmap" && !i.closed && !m.tickets[i.ID] {
				m.tickets[i.ID] = true
				m.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueTicket, Item: &event.Item{ID: "rm-" + i.ID, Title: "t"}}})
			}
			shown := i.Item
			if shown.Closed = i.closed; lies(6) { // what is closed is listed as open, and what is open not at all
				if shown.Closed = false; !i.closed {
					continue
				}
			}
			items = append(items, shown.Object())
		}
		f.Output = map[string]any{"items": items}
		return
	}
	for _, i := range list {
		if i.ID != q.Item.ID {
			continue
		}
		if q.Verb == event.SourceReport && q.Outcome.Status == event.ItemClosed {
			if i.closed && i.token == q.Token { // the answer got lost, and it is asked again
				f.Output = map[string]any{"ok": true, "closed": true, "gone": true}
				return
			}
			if i.closed && i.reported > 0 {
				m.fail("item %s was reported as closed under token %d, and before under token %d", i.ID, q.Token, i.token)
			}
			i.closed, i.token = true, q.Token
			i.reported++
			if q.Source == "roadmap" {
				m.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchClose, Queue: event.QueueTicket, ID: "rm-" + i.ID}})
			}
		}
		closed := i.closed
		if q.Verb != event.SourceReport && q.Token != 0 && m.done[i.ID] == 0 && lies(10) {
			m.kinds["lie"]++
			closed = true
		}
		f.Output = map[string]any{"ok": true, "closed": closed && q.Verb != event.SourceReport, "gone": closed}
	}
}

func (m *workplace) see(run string, events []event.Event, r *event.Reaction, _ bool) {
	last := events[len(events)-1]
	if last.Seq <= m.seen[run] { // a batch that was durable when the process died is seen in the replay alone
		return
	}
	m.seen[run] = last.Seq
	at := slices.IndexFunc(m.loops, func(h *hall) bool { return h.run == run })
	if at < 0 {
		m.seeItem(run, events, r)
		return
	}
	h, late := m.loops[at], max(0, m.store.Now().Sub(last.At))
	for i := range events {
		m.log("loop %s: %s %s", h.name, events[i].Kind(), events[i].Node())
		if c := events[i].ChildFinished; c != nil {
			m.seeEnd(h, c, late)
		}
	}
	for i := range r.Commands {
		if c := r.Commands[i].StartChild; c != nil && c.Cause != nil {
			m.seeBegin(h, c, last.At, late)
		}
		if e := r.Commands[i].End; e != nil {
			m.log("loop %s ends: %s", h.name, e.Status)
			if h.number, h.carry = e.Loop.Next.Number, e.Loop.Next.Carry; e.Loop.GoesOn {
				h.run = event.LoopRun(h.name, h.number)
				m.kinds["goes on"]++
			} else {
				h.ended = true
			}
		}
	}
	for _, tr := range r.Transitions {
		m.log("loop %s: %s %s %s", h.name, tr.Node, tr.To, tr.Reason)
		if agent, found := strings.CutPrefix(tr.Reason, "agent "); found && tr.Note == event.Warned {
			agent, _, _ = strings.Cut(agent, " ")
			h.stopped[agent] = true
			m.kinds["fatal"]++
		}
		if strings.HasPrefix(tr.Node, "item[") && (tr.To == event.Succeeded || tr.To == event.FailedS) {
			h.ends = append(h.ends, ended{last.At, tr.To == event.Succeeded})
		}
		for words, missed := range map[string]bool{" misses a target: ": true, " meets its target again: ": false} {
			if _, what, found := strings.Cut(tr.Reason, words); found && tr.Note == event.Warned {
				m.seeTarget(h, what, missed, last.At)
			}
		}
	}
}

// seeBegin looks at the beginning of an item's run: whether a limit, a pause or a stop forbids it. A batch can be durable late: the machine has
// begun the run by late earlier at most.
func (m *workplace) seeBegin(h *hall, c *event.StartChild, now event.Time, late time.Duration) {
	item := c.Cause.ID
	if m.who[c.Run] != "" {
		return // another driver goes on with it
	}
	m.who[c.Run] = item
	m.upset++
	if want := "/w/" + c.Run; h.trees != (c.Dir == want+"/app") || h.trees != (c.Cause.Worktree == want) || h.trees != (c.Cause.Branch != "") || h.trees && m.trees[c.Run] != "made" {
		m.fail("loop %s, whose runs have worktrees: %v, began run %s in %q: %s", h.name, h.trees, c.Run, c.Dir, m.trees[c.Run])
	}
	if h.quota && (m.jumped == 0 || m.real().Sub(m.jumped) > 3*time.Hour) {
		list, err := m.host.Limits(context.Background())
		for _, l := range list {
			if opened := l.Next.Add(-2 * time.Hour); err == nil && l.Name == "tracker" && l.Health == "open" && l.Next > now && now.Sub(opened) > 10*time.Minute {
				m.fail("loop %s began item %s, and the breaker of its quota is open since %s", h.name, item, opened)
			}
		}
	}
	agent, _ := c.Inputs["worker"].(string)
	if agent == "" {
		m.kinds["improvement"]++
	}
	if it, known := m.drawn[item]; known {
		for _, need := range it.Needs {
			if other, is := m.drawn[need]; !is || m.done[need] == 0 && !other.Closed {
				m.fail("loop %s began item %s, which needs %s", h.name, item, need)
			}
		}
		a := m.p.Agents[slices.IndexFunc(m.p.Agents, func(a ir.Agent) bool { return a.Name == agent })]
		if it.Assignee != "" && it.Assignee != agent || slices.ContainsFunc(it.Capabilities, func(c string) bool { return !slices.Contains(a.Capabilities, c) }) {
			m.fail("loop %s gave item %s to %s, who is not to do it", h.name, item, agent)
		}
	}
	at := moment{m.real(), m.ahead}
	switch n := len(h.begun) - h.perHour; {
	case h.perHour > 0 && n >= 0 && at.since(h.begun[n]) < time.Hour:
		m.fail("loop %s began %d items within an hour", h.name, h.perHour+1)
	case h.closed:
		m.fail("loop %s began item %s after %d failures in a row", h.name, item, h.failed)
	case h.halt != 0 && m.real().Sub(h.halt) > 5*time.Second:
		m.fail("loop %s began item %s after it was stopped", h.name, item)
	case h.stopped[agent]:
		m.fail("loop %s gave item %s to %s after a fatal failure", h.name, item, agent)
	}
	for _, who := range []string{"", agent} {
		p := h.pauses[who]
		if rest := m.real().Sub(p.from); p.until > m.store.Now() && rest > 5*time.Second && rest < p.long {
			m.fail("loop %s began item %s though %q was paused until %s", h.name, item, who, p.until)
		}
	}
	spent := 0.0
	for i := len(h.paid) - 1; i >= 0 && at.since(h.paid[i]) < day; i-- {
		spent += h.spent[i]
	}
	if h.cost > 0 && spent >= h.cost && len(h.paid) > 0 && at.since(h.paid[len(h.paid)-1])-late > 5*time.Second {
		m.fail("loop %s began item %s when a day had cost %v dollars", h.name, item, spent)
	}
	h.begun = append(h.begun, moment{at.real.Add(-late), at.ahead})
}

// seeTarget looks at what a loop says about one of its targets.
func (m *workplace) seeTarget(h *hall, words string, missed bool, now event.Time) {
	name, _, _ := strings.Cut(words, " ")
	m.kinds["target"]++
	if before, said := h.missed[name], h.told[name] != 0; before == missed {
		m.fail("loop %s says twice that missed is %v of the target %s", h.name, missed, name)
	} else if said && !m.back && now.Sub(h.told[name]) < time.Hour {
		m.fail("loop %s changes its mind about the target %s within an hour", h.name, name)
	}
	h.missed[name], h.told[name] = missed, now
	if name != "success_rate" || m.back {
		return
	}
	m.kinds["rate"]++
	closed, all := 0, 0
	for _, e := range h.ends {
		if e.at >= now/event.Time(time.Hour)*event.Time(time.Hour)-event.Time(23*time.Hour) {
			if all++; e.closed {
				closed++
			}
		}
	}
	rate := float64(closed) / float64(all)
	want := fmt.Sprintf("success_rate is %.1f%%, and at least %.1f%% is wanted", 100*rate, 100*h.success)
	if words != want || all < 10 || missed != (rate < h.success) {
		m.fail("loop %s says %q, and it is %d of %d: %q", h.name, words, closed, all, want)
	}
}

// seeEnd looks at the end of an item's run.
func (m *workplace) seeEnd(h *hall, c *event.ChildFinished, late time.Duration) {
	if c.Usage != nil && c.Usage.CostUSD > 0 { // the limit counts from the event, and the batch may have been durable later
		h.spent, h.paid = append(h.spent, c.Usage.CostUSD), append(h.paid, moment{m.real().Add(-late), m.ahead})
	}
}

func (m *workplace) seeItem(run string, events []event.Event, r *event.Reaction) {
	item := m.who[run]
	for i := range events {
		if (events[i].AttemptFinished != nil || events[i].DriverChanged != nil) && m.live[item] == run {
			delete(m.live, item)
		}
	}
	for i := range r.Commands {
		if e := r.Commands[i].End; e != nil {
			m.log("run %s of item %s ends: %s", run, item, e.Status)
			delete(m.live, item)
			if e.Status == event.Succeeded {
				m.done[item]++
			}
		}
	}
}

// dropLive forgets the attempts of drivers that have died: they are dead with them.
func (m *workplace) dropLive() { clear(m.live) }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func newWorkplace(t *testing.T, seed uint64) *workplace {
	r := rand.New(rand.NewPCG(seed, 77))
	var b strings.Builder
	b.WriteString(`
channel "ops" {
  type = "file"
  path = "ops.jsonl"
}
quota "tracker" {
  circuit_breaker {
    failures = 2
    reset    = "2h"
  }
}
workflow "do" {
  input "id" { type = string }
  input "worker" { type = string }
  step "work" {
    agent = pool.team[input.worker]
    task  = input.id
    retry { max_attempts = 2 }
  }
}
workflow "twice" {
  input "id" { type = string }
  input "worker" { type = string }
  sequence "all" {
    step "first" {
      agent = pool.team[input.worker]
      task  = input.id
    }
    step "second" {
      agent = pool.team[input.worker]
      task  = input.id
    }
  }
}
workflow "ask" {
  input "id" { type = string }
  input "worker" { type = string }
  sequence "all" {
    step "work" {
      agent = pool.team[input.worker]
      task  = input.id
    }
    step "ok" {
      approve { prompt = input.id }
    }
  }
}
workflow "tracked" {
  input "id" { type = string }
  input "worker" { type = string }
  step "work" {
    agent = pool.team[input.worker]
    task  = input.id
    quota = quota.tracker
  }
}
workflow "tidy" {
  step "s" { value = 1 }
}
`)
	names := []string{}
	for i := range 2 + r.IntN(3) {
		name := fmt.Sprintf("a%d", i)
		names = append(names, "agent."+name)
		fmt.Fprintf(&b, "agent \"%s\" {\n  type = \"exec\"\n  command = [\"x\"]\n  concurrency = %d\n  capabilities = %s\n}\n", name, 1+r.IntN(2), pick(r, `["go"]`, `["go", "gpu"]`, `["docs"]`))
	}
	fmt.Fprintf(&b, "pool \"team\" { members = [%s] }\n", strings.Join(names, ", "))
	m := &workplace{seed: seed, r: r, live: map[string]string{}, who: map[string]string{}, seen: map[string]uint64{}, lists: map[string][]*far{}, done: map[string]int{}, kinds: map[string]int{}, tickets: map[string]bool{}, asks: map[string]bool{}, drawn: map[string]*event.Item{}, trees: map[string]string{}}
	for _, l := range []string{"one", "two"} {
		h := &hall{name: l, missed: map[string]bool{}, told: map[string]event.Time{}, lease: pick(r, 3*time.Minute, 10*time.Minute, time.Hour), idle: pick(r, 30*time.Second, 5*time.Minute, 20*time.Minute)}
		m.loops = append(m.loops, h)
		agents := "pool.team"
		if r.IntN(4) == 0 {
			agents = names[r.IntN(len(names))]
		}
		fmt.Fprintf(&b, "loop \"%s\" {\n  agents = [%s]\n  lease = \"%s\"\n  heartbeat = \"%s\"\n  idle = \"%s\"\n  idle_max = \"%s\"\n  notify = [channel.ops]\n", l, agents, h.lease, h.lease/pick(r, time.Duration(3), 3, 5), h.idle, pick(r, 3*time.Hour, 12*time.Hour))
		limits := ""
		if r.IntN(3) == 0 {
			h.perHour = 1 + r.IntN(4)
			limits += fmt.Sprintf("tasks_per_hour = %d\n", h.perHour)
		}
		if r.IntN(4) == 0 {
			h.inARow = 2 + r.IntN(3)
			limits += fmt.Sprintf("consecutive_failures = %d\n", h.inARow)
		}
		if r.IntN(4) == 0 {
			h.cost = float64(3 + r.IntN(10))
			limits += fmt.Sprintf("cost_usd_per_day = %v\n", h.cost)
		}
		if limits != "" {
			fmt.Fprintf(&b, "limits {\n%s}\n", limits)
		}
		if h.trees = r.IntN(3) == 0; h.trees {
			b.WriteString("worktree = true\n")
		}
		if h.quota = r.IntN(4) == 0; h.quota {
			b.WriteString("quota = quota.tracker\n")
		}
		targets := ""
		for _, t := range []string{"throughput = 0.1", "mean_time = \"5m\"", "idle = 0.9", "retry_rate = 0.1", "escalation_rate = 0.1"} {
			if r.IntN(4) == 0 {
				targets += t + "\n"
			}
		}
		if r.IntN(2) == 0 {
			h.success = pick(r, 0.8, 0.9, 0.97)
			targets += fmt.Sprintf("success_rate = %v\n", h.success)
		}
		if targets != "" {
			fmt.Fprintf(&b, "target {\n%s}\n", targets)
		}
		sources := []string{"source \"dispatch\" {}", "source \"backlog\" {\n  from = \"exec\"\n  command = [\"list\"]\n}", "source \"roadmap\" { path = \"ROADMAP.md\" }", fmt.Sprintf("source \"improvement\" {\n  rotate = [workflow.tidy]\n  every = \"%s\"\n}", pick(r, 48*time.Hour, 200*time.Hour))}
		for i, s := range sources {
			if l == "one" || r.IntN(4) > 0 || i == len(sources)-1 {
				b.WriteString(s + "\n")
			}
		}
		b.WriteString("handle {\n  when = \"'ask' in item.labels\"\n  workflow = workflow.ask\n  with = { id = item.id, worker = worker }\n}\n")
		b.WriteString("handle {\n  when = \"'twice' in item.labels\"\n  workflow = workflow.twice\n  with = { id = item.id, worker = worker }\n}\n")
		b.WriteString("handle {\n  when = \"'tracked' in item.labels\"\n  workflow = workflow.tracked\n  with = { id = item.id, worker = worker }\n}\n")
		b.WriteString("handle {\n  when = \"not ('none' in item.labels)\"\n  workflow = workflow.do\n  with = { id = item.id, worker = worker }\n}\n}\n")
	}
	m.office = newOffice(t, b.String())
	m.store = sim.NewStore(seed)
	m.start = m.store.Now()
	m.o.World, m.o.Watch = m, m.see
	m.o.Faults = sim.Faults{CrashBeforeCommit: 0.0003, CrashAfterCommit: 0.0003, CrashMidway: 0.0003, Twice: 0.02, Silent: 0.005, Slow: 0.002, MaxCrashes: 3}
	m.host = sim.New(m.store, m.o)
	for i, h := range m.loops {
		h.spec = &m.p.Loops[i]
		m.begin(h)
	}
	return m
}

// begin makes a new run of a loop, as flowrun loop run does.
func (m *workplace) begin(h *hall) {
	m.ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopResume, Loop: h.name}})
	definition := m.p.Canonical()
	header := journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: h.name}
	header.Run = event.LoopRun(h.name, max(1, h.number))
	run, err := m.host.Start(context.Background(), engine.Start{Header: header, Definition: definition, First: event.RunStarted{Workflow: h.name, Loop: &event.LoopStart{Number: max(1, h.number), Carry: h.carry}}})
	if err != nil {
		m.t.Fatal(err)
	}
	h.run, h.ended, h.closed, h.failed, h.halt, h.begun = run, false, false, 0, 0, nil
	h.spent, h.paid = nil, nil
	h.stopped, h.pauses = map[string]bool{}, map[string]pause{}
	m.host.Add(run)
}

func (m *workplace) control(h *hall, r event.LoopRequest) {
	r.Loop = h.name
	m.upset++
	m.log("%s %s %q for %s", r.Operation, h.name, r.Agent, r.For)
	m.ask(event.StoreRequest{Loop: &r})
	switch r.Operation {
	case event.LoopPause:
		h.pauses[r.Agent] = pause{m.real(), m.store.Now().Add(r.For), r.For}
	case event.LoopResume:
		if delete(h.pauses, r.Agent); r.Agent == "" {
			clear(h.pauses)
		}
		clear(h.stopped)
	case event.LoopStop:
		h.halt = m.real()
	case event.LoopListen, event.LoopRead, event.LoopBegin:
	}
}

func (m *workplace) item(id string, last int) event.Item {
	r := m.r
	it := event.Item{ID: id, Title: "t", Priority: r.IntN(3)}
	if r.IntN(4) == 0 {
		it.Capabilities = []string{pick(r, "go", "gpu", "docs", "cook")}
	}
	for range r.IntN(3) {
		it.Needs = append(it.Needs, fmt.Sprintf("%c%d", id[0], r.IntN(last)))
	}
	switch r.IntN(12) {
	case 0, 1:
		it.Labels = []string{"ask"}
	case 2:
		it.Labels = []string{"twice"}
	case 3, 4:
		it.Labels = []string{"tracked"}
	case 5:
		it.Labels = []string{"none"}
	}
	if r.IntN(12) == 0 {
		it.Assignee = "a1"
	}
	kept := it
	m.drawn[id] = &kept
	return it
}

// plan draws what happens in the month.
func (m *workplace) plan() {
	r := m.r
	some := func() time.Duration { return time.Duration(r.Int64N(int64(busy))) }
	var moments []sim.Moment
	at := func(d time.Duration, do func()) {
		moments = append(moments, sim.Moment{At: m.start.Add(d), Do: func() error { do(); return nil }})
	}
	n := 2 + r.IntN(14)
	for i := range n {
		it := m.item(fmt.Sprintf("d%d", i), n+2)
		when := some()
		at(when, func() { m.log("dispatch %s", it.ID); m.dispatch(it) })
		at(when+time.Second, m.probe)
		if r.IntN(10) == 0 {
			at(when+time.Duration(r.Int64N(int64(day))), func() {
				m.log("cancel %s", it.ID)
				m.drawn[it.ID].Closed = true
				m.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchCancel, Queue: event.QueueDispatch, ID: it.ID}})
			})
		}
	}
	dear := slices.ContainsFunc(m.loops, func(h *hall) bool { return h.cost > 0 }) // it would not end them in a month
	if r.IntN(3) == 0 && !dear {                                                   // so many at once that targets are judged
		burst := make([]event.Item, 15+r.IntN(15))
		for i := range burst {
			burst[i] = event.Item{ID: fmt.Sprintf("b%d", i), Title: "t", Labels: []string{"twice"}}
			m.drawn[burst[i].ID] = &burst[i]
		}
		at(some(), func() { m.dispatch(burst...) })
	}
	for _, s := range []struct{ name, id string }{{"backlog", "f"}, {"roadmap", "r"}} {
		n := r.IntN(6)
		for i := range n {
			it := &far{Item: m.item(fmt.Sprintf("%s%d", s.id, i), n+1)}
			at(some(), func() { m.lists[s.name] = append(m.lists[s.name], it) })
			switch r.IntN(8) {
			case 0: // somebody else does it
				at(some(), func() { it.closed, m.drawn[it.ID].Closed = true, true })
			case 2, 3: // somebody opens it again that was done; what came of a roadmap stays done
				if s.name == "backlog" {
					for range 4 {
						at(some(), func() {
							if it.closed && it.reported > 0 {
								m.kinds["opened again"]++
								it.closed, it.reported = false, 0
							}
						})
					}
				}
			case 1: // somebody changes it
				at(some(), func() { it.Title, it.Priority, it.Labels = "other", 5, nil })
			}
		}
	}
	for range r.IntN(6) {
		h, away := m.loops[r.IntN(2)], time.Duration(r.Int64N(int64(pick(r, time.Minute, time.Hour, 6*time.Hour))))
		at(some(), func() { m.kill(h, away) })
	}
	for range r.IntN(5) {
		h, d, agent := m.loops[r.IntN(2)], time.Duration(1+r.Int64N(int64(day))), pick(r, "", "a0", "a1")
		when := some()
		at(when, func() { m.control(h, event.LoopRequest{Operation: event.LoopPause, Agent: agent, For: d}) })
		if r.IntN(2) == 0 {
			at(when+time.Duration(r.Int64N(int64(d))), func() { m.control(h, event.LoopRequest{Operation: event.LoopResume, Agent: agent}) })
		}
	}
	for range r.IntN(3) {
		h := m.loops[r.IntN(2)]
		at(some(), func() { m.control(h, event.LoopRequest{Operation: event.LoopStop}) })
	}
	for range r.IntN(5) {
		by := time.Duration(float64(time.Minute) * math.Pow(1440, r.Float64()))
		if r.IntN(2) == 0 {
			by = -by
		}
		at(some(), func() { m.jump(by) })
	}
	for range 12 {
		at(some(), m.probe)
	}
	for d := 18 * time.Hour; d < month; d += 18 * time.Hour {
		at(d, func() { m.answer(); m.restart(); m.redrive() })
	}
	at(month, func() {
		m.settled()
		for _, h := range m.loops {
			m.control(h, event.LoopRequest{Operation: event.LoopStop})
		}
	})
	slices.SortStableFunc(moments, func(a, b sim.Moment) int { return cmp.Compare(a.At, b.At) })
	for _, x := range moments {
		m.host.Schedule(x)
	}
	m.o.Moments = nil
}

// jump sets the clock.
func (m *workplace) jump(by time.Duration) {
	m.log("the clock jumps by %s", by)
	m.upset++
	m.skew, m.jumped, m.back = m.skew+by, m.real(), m.back || by < 0
	m.setBack += max(0, -by)
	m.ahead += max(0, by)
	m.host.Jump(by)
}

// kill has the driver of a loop die. Another one takes over after a while.
func (m *workplace) kill(h *hall, away time.Duration) {
	m.deaths++
	m.upset++
	m.dropLive()
	m.log("the driver of %s dies for %s", h.name, away)
	m.host.Kill(h.run, away)
	at := m.real().Add(away)
	h.away = at
	m.host.Schedule(sim.Moment{At: at, Do: func() error { m.upset++; return nil }})
}

// planLeases draws items that take longer than a lease. While an agent works on one, the clock jumps past the end of the lease, or the driver
// of one of the loops is away for longer than the lease, and the other loop is woken by more work.
func (m *workplace) planLeases() {
	r := rand.New(rand.NewPCG(m.seed, 79))
	for i := range 24 {
		id := fmt.Sprintf("l%d", i)
		when := m.start.Add(time.Duration(i)*12*time.Hour + time.Duration(r.Int64N(int64(6*time.Hour))))
		do := func(after time.Duration, do func()) {
			m.host.Schedule(sim.Moment{At: when.Add(after), Do: func() error { do(); return nil }})
		}
		more := func(after time.Duration, name string) {
			it := event.Item{ID: id + name, Title: "t"}
			m.drawn[it.ID] = &it
			do(after, func() { m.dispatch(it) })
		}
		more(0, "")
		h := m.loops[r.IntN(2)]
		if r.IntN(2) == 0 {
			by := h.lease + time.Duration(r.Int64N(int64(2*h.lease)))
			after := time.Minute + time.Duration(r.Int64N(int64(20*time.Minute)))
			do(after, func() { m.jump(by) })
			more(after+time.Second, "a")
			continue
		}
		away := 2*h.lease + time.Duration(r.Int64N(int64(2*h.lease)))
		after := time.Minute + time.Duration(r.Int64N(int64(10*time.Minute)))
		do(after, func() { m.kill(h, away) })
		more(after+away/2, "a")
		more(after+away-time.Second, "b")
	}
}

// claims are the claims of all items.
func (m *workplace) claims() (list []event.Claim) {
	for _, row := range m.ask(event.StoreRequest{Claims: true}).([]any) {
		c, err := event.ClaimOf(row)
		if err != nil {
			m.fail("%v", err)
		}
		list = append(list, c)
	}
	return list
}

// answer decides what waits for people.
func (m *workplace) answer() {
	if len(m.asks) == 0 {
		return
	}
	for _, c := range m.claims() {
		if c.State != event.ClaimParked || !m.quiet() && m.r.IntN(2) == 0 {
			continue
		}
		word := event.WordApprove
		if !m.quiet() && m.r.IntN(4) == 0 {
			word = event.WordReject
		}
		m.log("decide %s of %s: %s", c.Run, c.Item, word)
		m.kinds["decision"]++
		m.ask(event.StoreRequest{Decide: &event.DecideRequest{Run: c.Run, Node: "all/ok", Decision: event.Decision{Word: word, By: "ann"}}})
	}
}

// restart begins the loops again that have ended, and lets agents work that were stopped.
func (m *workplace) restart() {
	for _, h := range m.loops {
		switch {
		case h.ended:
			m.kinds["restart"]++
			m.log("loop %s begins anew", h.name)
			m.begin(h)
		case len(h.stopped) > 0 && (m.quiet() || m.r.IntN(2) == 0):
			m.control(h, event.LoopRequest{Operation: event.LoopResume})
		}
	}
}

// redrive gives dead letters another chance.
func (m *workplace) redrive() {
	if m.quiet() || m.r.IntN(4) > 0 {
		return
	}
	for _, v := range m.ask(event.StoreRequest{Dead: &event.DeadRequest{}}).([]any) {
		d := v.(map[string]any)
		m.kinds["redrive"]++
		m.ask(event.StoreRequest{Dead: &event.DeadRequest{ID: d["id"].(string), RedrivenBy: "ann"}})
	}
}

// eligible lists the dispatches that an agent could take now, with their tokens.
func (m *workplace) eligible() (list []string) {
	v := m.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch, All: true}})
	closed := map[string]bool{}
	rows := v.(map[string]any)["items"].([]any)
	for _, row := range rows {
		it, _ := event.ItemOf(row)
		closed[it.ID] = it.Closed
	}
	var held map[string]int
	for _, row := range rows {
		it, err := event.ItemOf(row)
		if err != nil || row.(map[string]any)["state"] != "open" || slices.ContainsFunc(it.Needs, func(n string) bool { return !closed[n] }) || slices.Contains(it.Labels, "none") || slices.Contains(it.Labels, "tracked") {
			continue
		}
		if held == nil {
			held = map[string]int{}
			for _, c := range m.claims() {
				if c.State == event.ClaimHeld {
					held[c.Loop+" "+c.Agent]++
				}
			}
		}
		for _, h := range m.loops {
			if h.ended || h.halt != 0 || m.real() < h.away || h.quota || h.perHour > 0 || h.cost > 0 || h.spec.Sources[0].Kind != ir.SourceDispatch {
				continue
			}
			for _, name := range h.spec.Agents {
				a := m.p.Agents[slices.IndexFunc(m.p.Agents, func(a ir.Agent) bool { return a.Name == name })]
				places, _ := a.Concurrency.Const.(float64)
				if h.stopped[name] || h.pauses[""].until > m.store.Now() || h.pauses[name].until > m.store.Now() || held[h.name+" "+name] >= int(places) ||
					it.Assignee != "" && it.Assignee != name || slices.ContainsFunc(it.Capabilities, func(c string) bool { return !slices.Contains(a.Capabilities, c) }) {
					continue
				}
				token := 0.0
				if c, is := row.(map[string]any)["claim"].(map[string]any); is {
					token = c["token"].(float64)
				}
				list = append(list, fmt.Sprint(h.name, " ", name, " ", it.ID, " ", token))
			}
		}
	}
	return list
}

// probe checks that what an agent could do is not left for long.
func (m *workplace) probe() {
	before, upset := m.eligible(), m.upset
	if len(before) == 0 {
		return
	}
	patience := time.Minute + max(m.loops[0].idle, m.loops[1].idle)
	m.host.Schedule(sim.Moment{At: m.real().Add(patience), Do: func() error {
		if m.upset == upset {
			m.kinds["probe"]++
			for _, e := range m.eligible() {
				if slices.Contains(before, e) {
					m.fail("a loop is idle for %s, and could have an agent do an item: %s", patience, e)
				}
			}
		}
		return nil
	}})
}

// settled checks that nothing is left that somebody could do: ten quiet days have passed.
func (m *workplace) settled() {
	able := func(it *event.Item) bool {
		return slices.ContainsFunc(m.loops, func(h *hall) bool {
			return slices.ContainsFunc(h.spec.Sources, func(s ir.Source) bool { return s.Name == it.Source }) && slices.ContainsFunc(h.spec.Agents, func(name string) bool {
				a := m.p.Agents[slices.IndexFunc(m.p.Agents, func(a ir.Agent) bool { return a.Name == name })]
				return (it.Assignee == "" || it.Assignee == name) && !slices.ContainsFunc(it.Capabilities, func(c string) bool { return !slices.Contains(a.Capabilities, c) })
			})
		}) && !slices.Contains(it.Labels, "none")
	}
	dead := map[string]bool{}
	for _, c := range m.claims() {
		dead[c.Item] = c.State == event.ClaimDead
		if young := c.State == event.ClaimHeld && m.store.Now().Sub(c.Since) < time.Minute; !young && (c.State == event.ClaimHeld || c.State == event.ClaimParked) {
			m.fail("the claim of %s is %s at the end of ten quiet days", c.Item, c.State)
		}
		if c.Lost > 0 && m.deaths == 0 && m.store.Struck().Crashes == 0 {
			m.fail("the lease of %s ran out %d times, and no driver has died", c.Item, c.Lost)
		}
	}
	items := map[string][]event.Item{}
	v := m.ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch, All: true}})
	for _, row := range v.(map[string]any)["items"].([]any) {
		it, err := event.ItemOf(row)
		if err != nil {
			m.fail("%v", err)
		}
		if n := m.done[it.ID]; n > 1 || row.(map[string]any)["state"] == "closed" && n != 1 {
			m.fail("dispatch %s is %v, and %d runs of it succeeded", it.ID, row.(map[string]any)["state"], n)
		}
		it.Source = "dispatch"
		items["dispatch"] = append(items["dispatch"], it)
	}
	for _, name := range []string{"backlog", "roadmap"} {
		for _, i := range m.lists[name] {
			it := i.Item
			if it.Closed, it.Source = i.closed, name; i.reported > 1 {
				m.fail("item %s was reported %d times", i.ID, i.reported)
			}
			items[name] = append(items[name], it)
		}
	}
	for name, list := range items { // any order: each for itself
		closed := map[string]bool{}
		for i := range list {
			closed[list[i].ID] = list[i].Closed
		}
		for i := range list {
			it := &list[i]
			if !it.Closed && !dead[name+"/"+it.ID] && able(it) && !slices.ContainsFunc(it.Needs, func(n string) bool { return !closed[n] }) {
				m.fail("item %s of %s is left", it.ID, name)
			}
		}
	}
}

// TestRandomMonths drives two loops through random months.
func TestRandomMonths(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 10)
	}
	testMonths(t, n, false)
}

// TestMonthsOfLeases drives two loops through months in which leases run out while agents work. It finds leases without a grace, and tokens
// that nobody checks.
func TestMonthsOfLeases(t *testing.T) { testMonths(t, *tight, true) }

func testMonths(t *testing.T, n int, leases bool) {
	machine.Sparse = n > 100 || leases // a few months restore often, many months restore rarely
	defer func() { machine.Sparse = false }()
	crashes, runs, events, kinds := 0, 0, uint64(0), map[string]int{}
	for seed := *from; seed < *from+uint64(n); seed++ {
		m := newWorkplace(t, seed)
		m.plan()
		if leases {
			m.planLeases()
		}
		for {
			err := m.host.DriveAll(context.Background())
			if errors.Is(err, sim.ErrCrashed) {
				crashes++
				m.upset++
				m.dropLive()
				m.log("the process dies")
				if m.r.IntN(2) == 0 {
					m.store.Pass(time.Duration(m.r.Int64N(int64(pick(m.r, time.Minute, 2*time.Hour)))))
				}
				continue
			}
			if err != nil {
				m.fail("%v", err)
			}
			break
		}
		runs += len(m.who)
		for _, h := range m.loops {
			if n := m.seen[h.run]; n > maxJournal {
				m.fail("the journal of loop %s has %d events: it does the same again and again", h.name, n)
			}
		}
		for _, n := range m.seen {
			events += n
		}
		kinds["jump"] += m.store.Struck().Jumps
		for k, n := range m.kinds {
			kinds[k] += n
		}
		if m.bad != "" {
			t.Fatalf("seed %d: %s", seed, m.bad)
		}
	}
	t.Logf("%d months: %d runs of items, %d events, %d crashes, %v", n, runs, events, crashes, kinds)
	if runs < 5*n {
		t.Error("too little happens in these months")
	}
}
