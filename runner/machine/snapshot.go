package machine

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/slots"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// format returns how the bytes of a machine begin. The number rises when this file codes the same fields otherwise; a
// change of the fields themselves changes the rest.
func format() string { return "machine 2 " + layout() }

var layout = snapshot.LazyLayout(reflect.TypeFor[Machine]())

var errBusy = errors.New("machine: it has more to do, so that its state cannot be kept")

// AppendState appends the machine as bytes to b. It comes after an Advance that reported no more work.
// Equal machines give equal bytes. Above most bytes with those of b, the error is [snapshot.ErrTooLong]; 0 means no bound.
func (m *Machine) AppendState(b []byte, most int) ([]byte, error) {
	if !m.agenda.empty() || m.out != nil {
		return nil, errBusy
	}
	if m.broken != nil {
		return nil, m.broken
	}
	c := newCoder(m, snapshot.NewAppender(b, most, format()))
	c.machine()
	return c.Close()
}

// Restore makes the machine of which AppendState made the bytes. The rest is as in New, with the
// same graph. An error means that the bytes are of another format, or broken.
func Restore(g *plan.Graph, eval ir.Evaluator, rules ir.Rules, state []byte) (*Machine, error) {
	m := New(g, eval, rules)
	c := newCoder(m, snapshot.NewReader(format(), state))
	c.machine()
	if _, err := c.Close(); err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	if m.run != nil {
		m.composer = compose.New(g, eval, m.run)
	}
	return m, nil
}

// coder names the fields of a machine to a snapshot. It leaves out what New computes from the program,
// what is computed again when it is read (the lists of expressions), and the agenda, which is empty.
type coder struct {
	*snapshot.Coder
	m      *Machine
	slots  *slots.Coding[slotRequest]
	adapts []*ir.Adapt // all rules of the program, in its order
}

func newCoder(m *Machine, s *snapshot.Coder) *coder {
	c := &coder{Coder: s, m: m}
	c.slots = slots.NewCoding(s, m.slots, c.slotRequest)
	if m.adapts {
		for i := range m.graph.Workflow.Adapt {
			c.adapts = append(c.adapts, &m.graph.Workflow.Adapt[i])
		}
		for i := range m.graph.Nodes {
			list := m.graph.Nodes[i].Adapt
			for j := range list {
				c.adapts = append(c.adapts, &list[j])
			}
		}
	}
	return c
}

func (c *coder) machine() {
	m, s := c.m, c.Coder
	snapshot.Owned(s, &m.run, snapshot.JournaledOf[event.RunStarted](s))
	if m.run == nil {
		return
	}
	snapshot.Time(s, &m.now)
	snapshot.Time(s, &m.started)
	snapshot.Time(s, &m.closedAt)
	c.frameOf(&m.root)
	c.usage(&m.usage)
	c.slots.Queue()
	slots.NewCoding(s, m.kv, c.slotRequest).Queue()
	snapshot.Int(s, &m.parallel)
	c.Bools(&m.ordered, &m.unsent, &m.abandoned, &m.budgeted, &m.asksRules)
	snapshot.Map(s, &m.agents, c.text, c.slots.Limiter)
	c.pools()
	snapshot.Uint(s, &m.tickets)
	c.live()
	snapshot.Map(s, &m.timers, c.uint, c.timer)
	snapshot.List(s, &m.granted, c.ref)
	c.needs()
	c.holdOf(&m.hold)
	snapshot.Map(s, &m.holds, c.uint, c.holdOf)
	snapshot.Map(s, &m.notices, c.uint, func(p **notice) { snapshot.Owned(s, p, c.notice) })
	snapshot.Map(s, &m.refused, c.uint, c.ref)
	snapshot.Map(s, &m.meeting, c.uint, c.ref)
	snapshot.Map(s, &m.heard, c.text, func(p **heard) { snapshot.Owned(s, p, c.heard) })
	snapshot.Map(s, &m.asks, c.uint, c.askingOf)
	snapshot.Uint(s, &m.askSeq)
	snapshot.Uint(s, &m.timerSeq)
	snapshot.Uint(s, &m.runTimer)
	snapshot.Uint(s, &m.queueSeq)
	snapshot.List(s, &m.left, func(n *int64) { snapshot.Int(s, n) })
	snapshot.Int(s, &m.deaths)
	snapshot.Uint(s, &m.phase)
	snapshot.Int(s, &m.remaining)
	snapshot.Int(s, &m.detached)
	snapshot.List(s, &m.strays, c.ref)
	snapshot.List(s, &m.lost, c.text)
	snapshot.Uint(s, &m.failures)
	c.cause(&m.bad)
	snapshot.Owned(s, &m.stopping, c.phaseStop)
	snapshot.Owned(s, &m.final, c.verdict)
	snapshot.Int(s, &m.cancels)
	snapshot.List(s, &m.toUndo, c.ref)
	snapshot.List(s, &m.wanted, c.bool)

	snapshot.List(s, &m.budgets, c.budgetOf)
	snapshot.Map(s, &m.unreported, c.text, c.bool)
	snapshot.Uint(s, &m.waits)
	snapshot.Map(s, &m.most, c.text, c.bounds)

	snapshot.List(s, &m.adapting, func(p **adaptation) { snapshot.Owned(s, p, c.adaptation) })
	snapshot.Int(s, &m.waiting)
	snapshot.Int(s, &m.ended)
	snapshot.Int(s, &m.failed)
	snapshot.List(s, &m.recent, func(e *endedAttempt) { c.Bools(&e.failed, &e.retry) })
	snapshot.Map(s, &m.figures, c.text, c.Value)
	snapshot.Int(s, &m.ruleRuns)
}

func (c *coder) text(v *string)         { snapshot.Text(c.Coder, v) }
func (c *coder) uint(v *uint64)         { snapshot.Uint(c.Coder, v) }
func (c *coder) bool(v *bool)           { c.Bools(v) }
func (c *coder) status(v *event.Status) { snapshot.Word(c.Coder, v) }
func (c *coder) usage(u *event.Usage)   { snapshot.Plain(c.Coder, u) }
func (c *coder) bounds(b *event.Bounds) { snapshot.Plain(c.Coder, b) }
func (c *coder) error(p **event.Error) {
	snapshot.Shared(c.Coder, p, snapshot.PlainOf[event.Error](c.Coder))
}                                      // wasRejected compares pointers
func (c *coder) attemptOf(p **attempt) { snapshot.Shared(c.Coder, p, c.attempt) }
func (c *coder) holdOf(p **hold)       { snapshot.Shared(c.Coder, p, c.hold) }
func (c *coder) askingOf(p **asking)   { snapshot.Shared(c.Coder, p, c.asking) }
func (c *coder) budgetOf(p **budget)   { snapshot.Shared(c.Coder, p, c.budget) }
func (c *coder) ruleOf(p **adaptRule)  { snapshot.Shared(c.Coder, p, c.rule) }
func (c *coder) frameOf(p **frame)     { snapshot.Shared(c.Coder, p, c.frame) }
func (c *coder) agent(p **ir.Agent) {
	list := c.m.graph.Program.Agents
	snapshot.One(c.Coder, p, len(list), func(i int) *ir.Agent { return &list[i] })
}

func (c *coder) ref(r *ref) {
	c.frameOf(&r.frame)
	snapshot.Int(c.Coder, &r.node)
	if r.node < plan.None || r.node >= len(c.m.graph.Nodes) {
		c.Fail(snapshot.ErrBroken)
	}
}

func (c *coder) slotRequest(w *slotRequest) {
	c.ref(&w.ref)
	snapshot.Int(c.Coder, &w.gate)
}

func (c *coder) frame(f *frame) {
	s := c.Coder
	snapshot.Int(s, &f.region)
	c.frameOf(&f.up)
	snapshot.Text(s, &f.key)
	snapshot.Int(s, &f.index)
	snapshot.Int(s, &f.iteration)
	c.frameOf(&f.last)
	c.Value(&f.each)
	if f.region < 0 || f.region >= len(c.m.graph.Regions) {
		c.Fail(snapshot.ErrBroken)
		return
	}
	nodes := c.m.graph.Regions[f.region].Nodes
	if c.Reading() {
		f.states = make([]state, len(nodes))
	}
	for slot := range f.states {
		c.state(nodes[slot], &f.states[slot])
	}
}

func (c *coder) state(node int, st *state) {
	s := c.Coder
	c.status(&st.status)
	c.Bools(&st.queued, &st.open, &st.fired, &st.tolerated, &st.barred)
	snapshot.Int(s, &st.waiting)
	snapshot.Int(s, &st.bad)
	snapshot.Owned(s, &st.liveState, func(d *liveState) { c.liveState(node, d) })
}

func (c *coder) liveState(node int, d *liveState) {
	s := c.Coder
	snapshot.Text(s, &d.path)
	snapshot.Int(s, &d.attempts)
	snapshot.Uint(s, &d.seq)
	snapshot.Time(s, &d.started)
	snapshot.Time(s, &d.finished)
	snapshot.Int(s, &d.exit)
	snapshot.Text(s, &d.streams.stdout)
	snapshot.Text(s, &d.streams.stderr)
	snapshot.Text(s, &d.streams.stdoutLog)
	snapshot.Text(s, &d.streams.stderrLog)
	c.longAnswer(&d.streams.long)
	c.output(&d.output)
	c.error(&d.err)
	snapshot.Word(s, &d.agent)
	c.Bools(&d.partial)
	snapshot.Uint(s, &d.timer)
	c.attemptOf(&d.live)
	c.error(&d.endError)
	snapshot.List(s, &d.waiters, func(w *waiter) {
		c.ref(&w.ref)
		c.Bools(&w.needs)
	})
	snapshot.Owned(s, &d.cold, func(x *coldState) { c.coldState(node, x) })
	snapshot.Int(s, &d.ended)
	snapshot.Owned(s, &d.spent, c.usage)
	snapshot.Owned(s, &d.groupState, c.groupState)
}

func (c *coder) groupState(g *groupState) {
	s := c.Coder
	snapshot.Int(s, &g.remaining)
	snapshot.Int(s, &g.total)
	t := &g.tally
	for _, n := range []*int32{&t.succeeded, &t.failed, &t.tolerated, &t.skipped, &t.blocked, &t.cancelled} {
		snapshot.Int(s, n)
	}
	snapshot.Text(s, &t.firstBad)
	c.slots.Limiter(&g.limit)
	c.cause(&g.cause)
	snapshot.List(s, &g.frames, c.frameOf)
	snapshot.List(s, &g.items, func(i *item) {
		snapshot.Text(s, &i.key)
		c.Value(&i.each)
	})
	c.Bools(&g.keyed)
	snapshot.Int(s, &g.taken)
	snapshot.Text(s, &g.way)
	snapshot.Owned(s, &g.join, func(j *joinState) {
		snapshot.Int(s, &j.need)
		c.Bools(&j.decided, &j.detached, &j.warned)
		c.error(&j.err)
		snapshot.Text(s, &j.winner)
	})
	snapshot.Owned(s, &g.loop, func(l *repeatState) {
		snapshot.Int(s, &l.most)
		snapshot.Int(s, &l.max)
		snapshot.Int(s, &l.count)
		c.frameOf(&l.frame)
		snapshot.Text(s, &l.winner)
	})
	snapshot.Text(s, &g.winner)
	c.Value(&g.gathered)
}

func (c *coder) coldState(node int, x *coldState) {
	s := c.Coder
	c.Bools(&x.otherwise, &x.busy, &x.settled, &x.refused, &x.toUndo, &x.escalates, &x.aborted)
	snapshot.Int(s, &x.generation)
	snapshot.Int(s, &x.fallback)
	c.agent(&x.chosen)
	snapshot.List(s, &x.passed, c.agent)
	snapshot.Int(s, &x.begun)
	snapshot.Int(s, &x.turns)

	snapshot.Int(s, &x.before)
	c.error(&x.rejected)
	snapshot.Text(s, &x.said)
	snapshot.Int(s, &x.silent)
	snapshot.Int(s, &x.limited)
	snapshot.Text(s, &x.feedback)
	snapshot.Plain(s, &x.recalled)
	snapshot.Plain(s, &x.session)
	snapshot.Plain(s, &x.sessionOf)
	snapshot.Owned(s, &x.escalation, func(e *escalation) { c.escalation(node, e) })
	snapshot.Text(s, &x.by)
	snapshot.Owned(s, &x.deadline, c.deadline)
	c.budgetOf(&x.budget)
	snapshot.Owned(s, &x.rule, c.triggerState)
	c.holdOf(&x.hold)
	snapshot.Owned(s, &x.waits, func(w *eventWait) {
		snapshot.Int(s, &w.place)
		snapshot.Text(s, &w.taker)
		snapshot.Time(s, &w.since)
	})
	snapshot.Owned(s, &x.sync, c.syncWait)
	snapshot.Uint(s, &x.room)
	snapshot.Plain(s, &x.waitsFor)
	snapshot.Owned(s, &x.judging, func(j *judging) {
		snapshot.Int(s, &j.gate)
		c.agent(&j.agent)
		snapshot.Int(s, &j.tries)
		c.Bools(&j.waits)
	})
	c.askingOf(&x.asking)
	snapshot.Plain(s, &x.cancel)
	snapshot.Owned(s, &x.refusal, func(r *refusal) {
		snapshot.Uint(s, &r.ticket)
		c.Bools(&r.kept, &r.turn)
	})
	snapshot.Int(s, &x.priority)
	snapshot.Plain(s, &x.reused)
}

func (c *coder) escalation(node int, e *escalation) {
	s := c.Coder
	if e.of = c.m.graph.Nodes[node].Escalation; e.of == nil {
		c.Fail(snapshot.ErrBroken)
		return
	}
	snapshot.List(s, &e.entered, c.bool)
	snapshot.Int(s, &e.at)
	snapshot.Int(s, &e.highest)
	snapshot.Int(s, &e.failures)
	snapshot.List(s, &e.history, c.text)
	c.Value(&e.healed)
	snapshot.One(s, &e.to, len(e.of.To), func(i int) *plan.Assignee { return e.of.To[i] })
	c.agent(&e.failed)
}

func (c *coder) deadline(d *deadline) {
	s := c.Coder
	snapshot.Time(s, &d.since)
	snapshot.Int(s, &d.after)
	c.Float(&d.passed)
	snapshot.Uint(s, &d.timer)
	snapshot.Uint(s, &d.progress)
}

func (c *coder) triggerState(t *triggerState) {
	c.Bools(&t.released)
	for _, n := range []*int32{&t.total, &t.succeeded, &t.failed, &t.skipped, &t.tolerated, &t.bad} {
		snapshot.Int(c.Coder, n)
	}
}

func (c *coder) syncWait(w *syncWait) {
	s := c.Coder
	snapshot.Text(s, &w.key)
	snapshot.Uint(s, &w.last)
	snapshot.Uint(s, &w.ticket)
	snapshot.Time(s, &w.until)
	c.Bools(&w.expired, &w.waits)
}

func (c *coder) cause(x *cause) {
	c.error(&x.err)
	snapshot.Uint(c.Coder, &x.order)
}

func (c *coder) phaseStop(p *phaseStop) {
	c.status(&p.status)
	c.error(&p.err)
	snapshot.Text(c.Coder, &p.reason)
	c.Bools(&p.limit, &p.yields)
}

func (c *coder) verdict(v *verdict) {
	c.status(&v.status)
	c.error(&v.err)
	c.Bools(&v.limit, &v.ended)
	snapshot.List(c.Coder, &v.failed, c.text)
}

func (c *coder) timer(t *timer) {
	s := c.Coder
	c.ref(&t.ref)
	snapshot.Word(s, &t.purpose)
	snapshot.Time(s, &t.due)
	snapshot.Int(s, &t.stood)
}

// live codes the live attempts in the order of their starts. The reader finds them by ticket and by
// run once they are described.
func (c *coder) live() {
	l := &c.m.live
	list := l.snapshot()
	snapshot.List(c.Coder, &list, c.attemptOf)
	if c.Reading() {
		c.Later(func() {
			for _, a := range list {
				if a == nil || (a.child == nil) == (a.request == nil) {
					c.Fail(snapshot.ErrBroken)
					return
				}
				l.add(a)
			}
		})
	}
}

func (c *coder) attempt(a *attempt) {
	s := c.Coder
	c.ref(&a.ref)
	snapshot.Int(s, &a.gate)
	snapshot.Plain(s, &a.request)
	snapshot.Plain(s, &a.child)
	snapshot.Time(s, &a.since)
	c.Bools(&a.cancelled, &a.open, &a.delayed, &a.free, &a.person, &a.now, &a.granted)
	c.error(&a.expired)
	c.ruleOf(&a.rule)
	snapshot.List(s, &a.loans, func(l *loan) {
		c.budgetOf(&l.by)
		c.bounds(&l.kept)
	})
}

// needs codes what runs share, in the order of kind and name.
func (c *coder) needs() {
	type entry struct{ of, need event.Need }
	var list []entry
	for of, need := range c.m.needs { // any order: sorted below
		list = append(list, entry{of, need})
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.of.Kind, b.of.Kind), cmp.Compare(a.of.Name, b.of.Name))
	})
	snapshot.List(c.Coder, &list, func(e *entry) {
		snapshot.Plain(c.Coder, &e.of)
		snapshot.Plain(c.Coder, &e.need)
	})
	if c.Reading() && list != nil {
		c.m.needs = map[event.Need]event.Need{}
		for _, e := range list {
			c.m.needs[e.of] = e.need
		}
	}
}

func (c *coder) pools() {
	for _, p := range c.m.graph.Pools {
		if x := c.m.pools.of[p]; x != nil {
			c.Bools(&x.begun)
			snapshot.Int(c.Coder, &x.next)
		}
	}
	snapshot.Map(c.Coder, &c.m.pools.choices, c.text, c.slots.Choice)
}

func (c *coder) hold(h *hold) {
	s := c.Coder
	c.ref(&h.ref)
	snapshot.Plain(s, &h.request)
	c.Bools(&h.held, &h.ever, &h.granted, &h.refused, &h.suspended, &h.slots)
	c.status(&h.shown)
	snapshot.Uint(s, &h.timer)
	snapshot.List(s, &h.waiting, c.slotRequest)
}

func (c *coder) notice(n *notice) {
	c.ref(&n.ref)
	snapshot.Text(c.Coder, &n.about)
	snapshot.Plain(c.Coder, &n.request)
}

func (c *coder) heard(h *heard) {
	s := c.Coder
	snapshot.List(s, &h.events, func(p **heardEvent) {
		snapshot.Owned(s, p, func(e *heardEvent) {
			snapshot.Text(s, &e.id)
			c.Value(&e.data)
			snapshot.Map(s, &e.takenBy, c.text, c.bool)
		})
	})
	snapshot.List(s, &h.waits, c.ref)
	snapshot.Int(s, &h.ended)
	snapshot.Int(s, &h.dropped)
	snapshot.Int(s, &h.told)
}

func (c *coder) asking(a *asking) {
	s := c.Coder
	snapshot.Plain(s, &a.Ask)
	c.ref(&a.of)
	c.budgetOf(&a.spent)
	snapshot.Plain(s, &a.votes)
	snapshot.Int(s, &a.afterAck)
	snapshot.Time(s, &a.heard)
}

func (c *coder) budget(b *budget) {
	s := c.Coder
	c.ref(&b.of)
	snapshot.Text(s, &b.whose)
	c.bounds(&b.most)
	c.bounds(&b.used)
	c.Float(&b.warnAt)
	c.Bools(&b.stops, &b.warned, &b.beyond)
	c.bounds(&b.step)
	c.askingOf(&b.asked)
	snapshot.Text(s, &b.ended)
	snapshot.List(s, &b.notify, c.text)
	snapshot.Int(s, &b.open)
	snapshot.Int(s, &b.loans)
	c.bounds(&b.lent)
	snapshot.List(s, &b.waiting, func(w *budgetWait) {
		c.slotRequest(&w.slotRequest)
		snapshot.Uint(s, &w.number)
	})
}

func (c *coder) adaptation(a *adaptation) {
	s := c.Coder
	c.ref(&a.ref)
	c.slots.Limiter(&a.limit)
	snapshot.Int(s, &a.declared)
	snapshot.Int(s, &a.inForce)
	snapshot.Int(s, &a.most)
	snapshot.List(s, &a.rules, c.ruleOf)
	snapshot.Text(s, &a.why)
}

func (c *coder) rule(r *adaptRule) {
	s := c.Coder
	snapshot.One(s, &r.Adapt, len(c.adapts), func(i int) *ir.Adapt { return c.adapts[i] })
	snapshot.Int(s, &r.number)
	snapshot.Int(s, &r.holdFor)
	snapshot.Int(s, &r.cooldown)
	snapshot.Time(s, &r.since)
	c.Bools(&r.on, &r.starts, &r.told)
	snapshot.Text(s, &r.why)
	snapshot.Int(s, &r.most)
	snapshot.Time(s, &r.next)
	snapshot.Time(s, &r.last)
	c.attemptOf(&r.child)
	snapshot.Uint(s, &r.timer)
	snapshot.List(s, &r.warned, c.text)
	snapshot.Int(s, &r.edges)
}
