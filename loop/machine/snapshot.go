package machine

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// format returns how the bytes of AppendState begin. The number rises when this file codes the same fields otherwise; a
// change of the fields themselves changes the rest.
func format() string { return "loop 1 " + layout() }

var layout = snapshot.LazyLayout(reflect.TypeFor[Machine]())

// AppendState appends the machine as bytes to b. It comes between two events. Equal machines give equal bytes. Above most bytes with those of b, the
// error is [snapshot.ErrTooLong]; 0 means no bound.
func (m *Machine) AppendState(b []byte, most int) ([]byte, error) {
	if len(m.noted) > 0 || m.out != nil {
		return nil, errors.New("loop: the machine has more to do, so that its state cannot be kept")
	}
	c := coder{snapshot.NewAppender(b, most, format()), m}
	c.machine()
	return c.Close()
}

// Restore makes the machine of which AppendState made the bytes. The rest is as in New.
func Restore(g *plan.Graph, loop *ir.Loop, eval ir.Evaluator, rules ir.Rules, state []byte) (*Machine, error) {
	m := New(g, loop, eval, rules)
	c := coder{snapshot.NewReader(format(), state), m}
	c.machine()
	if _, err := c.Close(); err != nil {
		return nil, fmt.Errorf("loop: %w", err)
	}
	if m.run != nil {
		m.composer = compose.New(g, eval, m.run)
	}
	return m, nil
}

type coder struct {
	*snapshot.Coder
	m *Machine
}

func (c *coder) text(v *string)       { snapshot.Text(c.Coder, v) }
func (c *coder) agentOf(p **agent)    { snapshot.Shared(c.Coder, p, c.agent) }
func (c *coder) sourceOf(p **source)  { snapshot.Shared(c.Coder, p, c.source) }
func (c *coder) workOf(p **work)      { snapshot.Shared(c.Coder, p, c.work) }
func (c *coder) times(t *event.Time)  { snapshot.Time(c.Coder, t) }
func (c *coder) number(n *int)        { snapshot.Int(c.Coder, n) }
func (c *coder) ticket(n *uint64)     { snapshot.Uint(c.Coder, n) }
func (c *coder) spending(s *spending) { snapshot.Plain(c.Coder, s) }

func (c *coder) machine() {
	m, s := c.m, c.Coder
	snapshot.Owned(s, &m.run, snapshot.JournaledOf[event.RunStarted](s))
	if m.run == nil {
		return
	}
	for _, t := range []*event.Time{&m.now, &m.started, &m.asked, &m.improved} {
		c.times(t)
	}
	snapshot.Int(s, &m.behind)
	snapshot.Int(s, &m.lease)
	snapshot.Int(s, &m.heartbeat)
	snapshot.Int(s, &m.idle)
	snapshot.Int(s, &m.idleMax)
	c.limits(&m.limits)
	c.targets(&m.targets)
	c.times(&m.shut.until)
	snapshot.Text(s, &m.shut.why)
	snapshot.Uint(s, &m.tickets)
	snapshot.Uint(s, &m.timerSeq)
	snapshot.Map(s, &m.asks, c.ticket, func(p **ask) { snapshot.Owned(s, p, c.ask) })
	snapshot.Map(s, &m.timers, c.ticket, func(p *event.TimerPurpose) { snapshot.Word(s, p) })
	c.timer(&m.wake)
	c.timer(&m.beat)
	snapshot.List(s, &m.agents, c.agentOf)
	snapshot.List(s, &m.sources, c.sourceOf)
	snapshot.List(s, &m.work, c.workOf)
	snapshot.Map(s, &m.barred, c.text, c.bar)
	snapshot.Map(s, &m.lies, c.text, c.number)
	snapshot.Plain(s, &m.control)
	c.Bools(&m.heard, &m.again, &m.over)
	for _, n := range []*int{&m.round, &m.rounds, &m.turns, &m.events, &m.cancels} {
		c.number(n)
	}
	snapshot.Map(s, &m.warned, c.text, func(b *bool) { c.Bools(b) })
	snapshot.Plain(s, &m.usage)
	snapshot.Plain(s, &m.counts)
	snapshot.Text(s, &m.draining)
	snapshot.Plain(s, &m.final)
}

func (c *coder) limits(l *limits) {
	c.number(&l.perHour)
	c.number(&l.inARow)
	c.Float(&l.costADay)
	snapshot.List(c.Coder, &l.begun, c.times)
	c.number(&l.failed)
	snapshot.List(c.Coder, &l.spent, c.spending)
}

func (c *coder) targets(t *targets) {
	snapshot.List(c.Coder, &t.wanted, func(t *target) {
		snapshot.Text(c.Coder, &t.name)
		c.Bools(&t.least, &t.missed)
		c.Float(&t.bound)
		c.times(&t.changed)
	})
	snapshot.Plain(c.Coder, &t.hours)
	c.times(&t.since)
	c.times(&t.last)
}

func (c *coder) timer(t *timer) {
	snapshot.Uint(c.Coder, &t.number)
	c.times(&t.due)
}

func (c *coder) agent(a *agent) {
	list := c.m.graph.Program.Agents
	snapshot.One(c.Coder, &a.Agent, len(list), func(i int) *ir.Agent { return &list[i] })
	c.number(&a.places)
	c.number(&a.busy)
	snapshot.Text(c.Coder, &a.stopped)
}

func (c *coder) ask(a *ask) {
	snapshot.Uint(c.Coder, &a.kind)
	snapshot.Plain(c.Coder, &a.request)
	c.times(&a.asked)
	c.sourceOf(&a.source)
	c.workOf(&a.work)
}

func (c *coder) source(x *source) {
	s, list := c.Coder, c.m.loop.Sources
	snapshot.One(s, &x.Source, len(list), func(i int) *ir.Source { return &list[i] })
	c.number(&x.number)
	snapshot.Text(s, &x.list)
	snapshot.Int(s, &x.every)
	snapshot.Plain(s, &x.items)
	snapshot.Map(s, &x.marks, c.text, c.text)
	c.Bools(&x.fresh, &x.left, &x.old, &x.known)
	c.times(&x.next)
	snapshot.Uint(s, &x.watch)
	snapshot.Text(s, &x.mark)
	c.number(&x.quiet)
	snapshot.Text(s, &x.failed)
	snapshot.Map(s, &x.handled, c.text, c.handling)
}

func (c *coder) handling(h *handling) {
	s := c.Coder
	snapshot.Text(s, &h.mark)
	snapshot.Text(s, &h.why)
	snapshot.Text(s, &h.workflow)
	snapshot.Map(s, &h.inputs, c.text, c.Value)
	snapshot.Plain(s, &h.late)
}

func (c *coder) bar(b *bar) {
	snapshot.Text(c.Coder, &b.why)
	c.times(&b.until)
	snapshot.Text(c.Coder, &b.mark)
	c.times(&b.dead)
	c.Bools(&b.done)
}

func (c *coder) work(w *work) {
	s := c.Coder
	snapshot.Text(s, &w.key)
	snapshot.Text(s, &w.path)
	c.sourceOf(&w.source)
	c.agentOf(&w.agent)
	snapshot.Plain(s, &w.item)
	snapshot.Text(s, &w.mark)
	c.handling(&w.handling)
	snapshot.Uint(s, &w.stage)
	snapshot.Uint(s, &w.token)
	snapshot.Plain(s, &w.child)
	snapshot.Plain(s, &w.result)
	c.times(&w.since)
	c.times(&w.begun)
	c.times(&w.before)
	c.Bools(&w.parked, &w.retry, &w.escalated, &w.lost, &w.waits, &w.now, &w.renews, &w.again, &w.gone, &w.then.lost)
	snapshot.Text(s, &w.cancel)
	c.number(&w.tries)
	snapshot.Word(s, &w.close)
	snapshot.Text(s, &w.say)
	snapshot.Plain(s, &w.tree)
	snapshot.Plain(s, &w.then.ended)
	snapshot.Text(s, &w.then.reason)
}
