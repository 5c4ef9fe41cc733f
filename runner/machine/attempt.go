package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// attempt is one that was asked for and has not been answered.
type attempt struct {
	ref
	gate       int
	request    *event.Attempt
	cancelled  bool
	next, prev *attempt
}

// liveList finds live attempts by ticket and walks them in the order of their starts.
type liveList struct {
	by          map[uint64]*attempt
	first, last *attempt
}

func (l *liveList) add(a *attempt) {
	l.by[a.request.Ticket] = a
	if a.prev = l.last; a.prev == nil {
		l.first = a
	} else {
		a.prev.next = a
	}
	l.last = a
}

func (l *liveList) remove(a *attempt) {
	delete(l.by, a.request.Ticket)
	if a.prev == nil {
		l.first = a.next
	} else {
		a.prev.next = a.next
	}
	if a.next == nil {
		l.last = a.prev
	} else {
		a.next.prev = a.prev
	}
}

// begin starts an attempt whose slots are taken: everything that it needs is computed now.
func (m *Machine) begin(w want) {
	s, d := m.state(w.ref), m.detail(w.ref)
	if w.gate == work {
		d.attempts++
	}
	request, err := m.request(w)
	if err != nil {
		m.giveBack(w.ref, w.gate)
		if w.gate == work {
			m.startParents(w.ref)
			m.fail(w.ref, err)
		} else {
			m.verdict(w.ref, w.gate, false, err.Message)
			m.judge(w.ref, w.gate+1)
		}
		return
	}
	m.tickets++
	request.Ticket = m.tickets
	if w.gate == work {
		reason := ""
		if n := m.node(w.ref); d.attempts == 1 && n.When != nil {
			reason = "its condition holds: " + n.When.Text
		}
		m.move(w.ref, event.Running, reason)
	}
	a := &attempt{ref: w.ref, gate: w.gate, request: request}
	d.live = a
	m.live.add(a)
	m.command(event.Command{Start: request})
	assert(!s.status.Terminal(), "%s starts after its end", d.path)
}

// request computes an attempt. An error is the attempt's own: blocking, for trying again would give the same.
func (m *Machine) request(w want) (*event.Attempt, *event.Error) {
	n, d := m.node(w.ref), m.detail(w.ref)
	a := &event.Attempt{
		Node: d.path, Name: n.Name, Attempt: d.attempts, Run: m.run.Run, Workflow: m.run.Workflow, Base: m.run.Env,
	}
	sc := m.scope(w.ref)
	env, dir, timeout, run := m.envs(w.ref), m.dirs(w.ref), n.Timeout, n.Run
	if w.gate != work {
		g := n.Gates[w.gate]
		a.Gate = g.Name
		sc.judging = true
		env, timeout, run = []map[string]*ir.Expr{g.Env}, g.Timeout, g.Run
		if g.Dir != nil {
			dir = []*ir.Expr{g.Dir}
		}
	}
	a.Key = m.key(d.path, a.Gate, d.attempts)
	var err error
	place := "env"
	if a.Env, err = m.env(env, sc); err != nil {
		return nil, evaluation(place, err)
	}
	if a.Dir, err = m.dir(dir, sc); err != nil {
		return nil, evaluation("dir", err)
	}
	if run != nil {
		if place, err = m.program(a, run, sc); err != nil {
			return nil, evaluation(place, err)
		}
	} else if place, err = m.task(a, n, sc); err != nil {
		return nil, evaluation(place, err)
	}
	if timeout == nil && w.gate == work && n.Agent != nil {
		timeout = n.Agent.Timeout
	}
	if timeout != nil {
		if a.Timeout, err = m.duration(timeout, sc); err != nil {
			return nil, evaluation("timeout", err)
		}
	}
	return a, nil
}

// key is the idempotency key: the same for every attempt at the same work. A gate judges one attempt's result, so its key
// has the attempt's number.
func (m *Machine) key(path, gate string, attempt int) string {
	text := m.run.Run + "\x00" + path + "\x000" // the generation, which nothing raises in this release
	if gate != "" {
		text += "\x00" + gate + "\x00" + strconv.Itoa(attempt)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (m *Machine) program(a *event.Attempt, run *ir.Run, sc *scope) (place string, err error) {
	a.Shell, a.Parse = run.Shell, string(run.Parse)
	if run.Script != nil {
		a.Script, err = m.text(run.Script, sc)
		return "run", err
	}
	v, err := m.eval.Eval(run.Argv, sc)
	if err != nil {
		return "run", err
	}
	a.Argv, err = arguments(v)
	return "run", err
}

// arguments makes an argument list of a list of strings, numbers and bools.
func arguments(v value.Value) ([]string, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("a list of a program and its arguments is needed, but this is %.60s", value.Text(v))
	}
	argv := make([]string, len(list))
	for i, e := range list {
		s, err := plain(e)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
		argv[i] = s
	}
	return argv, nil
}

func (m *Machine) task(a *event.Attempt, n *plan.Node, sc *scope) (place string, err error) {
	g := n.Agent
	q := &event.AgentRequest{Name: g.Name, Type: string(g.Type), PassEnv: g.PassEnv, Input: g.Input, OutputFormat: g.OutputFormat}
	a.Agent, a.Shell = q, g.Shell
	if g.Command != nil {
		v, err := m.eval.Eval(g.Command, sc)
		if err == nil {
			a.Argv, err = arguments(v)
		}
		if err != nil {
			return fmt.Sprintf("command of agent %q", g.Name), err
		}
	}
	if g.Run != nil {
		if a.Script, err = m.text(g.Run, sc); err != nil {
			return fmt.Sprintf("run of agent %q", g.Name), err
		}
	}
	if t := n.Node.Agent.Task; t != nil {
		if q.Task, err = m.text(t, sc); err != nil {
			return "task", err
		}
	}
	if w := n.Node.Agent.With; w != nil {
		if q.With, err = m.eval.Eval(w, sc); err != nil {
			return "with", err
		}
		if err = sized(q.With); err != nil {
			return "with", err
		}
	}
	return "", nil
}

// envs lists what the file adds to a node's environment, the farthest first, so that the nearest wins: the workflow,
// groups from the outside in, the agent, the step.
func (m *Machine) envs(r ref) []map[string]*ir.Expr {
	n := m.node(r)
	list := []map[string]*ir.Expr{n.Env}
	if n.Agent != nil {
		list = append(list, n.Agent.Env)
	}
	for up := n.Parent; up != plan.None; up = m.graph.Nodes[up].Parent {
		list = append(list, m.graph.Nodes[up].Env)
	}
	list = append(list, m.graph.Workflow.Env)
	slices.Reverse(list)
	return list
}

func (m *Machine) env(layers []map[string]*ir.Expr, sc *scope) (map[string]string, error) {
	var env map[string]string
	for _, exprs := range layers {
		for _, name := range slices.Sorted(maps.Keys(exprs)) {
			s, err := m.text(exprs[name], sc)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if env == nil {
				env = map[string]string{}
			}
			env[name] = s
		}
	}
	return env, nil
}

// dirs lists where a node's folder may be given, the nearest first.
func (m *Machine) dirs(r ref) []*ir.Expr {
	list := []*ir.Expr{m.node(r).Dir}
	if a := m.node(r).Agent; a != nil {
		list = append(list, a.Dir)
	}
	for n := m.node(r).Parent; n != plan.None; n = m.graph.Nodes[n].Parent {
		list = append(list, m.graph.Nodes[n].Dir)
	}
	return append(list, m.graph.Workflow.Dir)
}

// dir is the folder that an attempt runs in: absolute, below the program's folder if it is relative.
func (m *Machine) dir(list []*ir.Expr, sc *scope) (string, error) {
	for _, e := range list {
		if e == nil {
			continue
		}
		s, err := m.text(e, sc)
		if err != nil || path.IsAbs(s) {
			return s, err
		}
		return path.Join(m.run.Dir, s), nil
	}
	return m.run.Dir, nil
}

// attemptFinished takes an answer in. One that comes late or twice finds no live attempt and changes nothing.
func (m *Machine) attemptFinished(f *event.AttemptFinished) {
	a := m.live.by[f.Ticket]
	if a == nil || a.request.Node != f.Node {
		return
	}
	m.live.remove(a)
	s := m.state(a.ref)
	d := s.detail
	d.live = nil
	m.giveBack(a.ref, a.gate)
	if s.status.Terminal() {
		return
	}
	if a.cancelled && (f.Outcome != event.OK || len(m.node(a.ref).Gates) > 0) {
		m.finish(a.ref, event.Cancelled, m.whyCancelled(a.ref))
		return
	}
	if f.Outcome == event.Lost && m.stopping == nil { // it fell silent: the same attempt again
		if a.gate == work {
			d.attempts--
		}
		m.enqueue(a.ref, a.gate)
		return
	}
	if a.gate != work {
		m.gateFinished(a, f)
		return
	}
	if f.StartedAt != 0 && d.attempts == 1 {
		d.started = f.StartedAt
	}
	m.take(a.ref, f)
	if f.Outcome != event.OK {
		m.failed(a.ref, failure(f))
		return
	}
	output, err := m.output(m.node(a.ref), f)
	if err != nil {
		m.failed(a.ref, err)
		return
	}
	d.output = output
	m.deliver(a.ref)
}

// take keeps what an attempt printed, bounded.
func (m *Machine) take(r ref, f *event.AttemptFinished) {
	d := m.detail(r)
	d.output, d.computed, d.exit = nil, false, -1
	if f.ExitCode != nil {
		d.exit = *f.ExitCode
	}
	d.streams = streams{Bound(f.Stdout, MaxStream), Bound(f.Stderr, MaxStream), f.StdoutLog, f.StderrLog}
}

func failure(f *event.AttemptFinished) *event.Error {
	if f.Error == nil {
		return &event.Error{Kind: event.Transient, Reason: string(f.Outcome), Message: "the attempt ended without a reason", ExitCode: -1}
	}
	e := *f.Error
	return &e
}

// driverChanged asks again for everything that was in flight, with the same numbers and keys, or gives attempts up whose
// drivers died over them too often.
func (m *Machine) driverChanged(d *event.DriverChanged) {
	poison := false
	if d.Lost {
		m.deaths++
		limit := d.DeathLimit
		if limit == 0 {
			limit = DefaultDeathLimit
		}
		poison = m.deaths >= limit
	}
	for a := m.live.first; a != nil; {
		next := a.next
		switch {
		case a.cancelled:
			m.drop(a)
			m.finish(a.ref, event.Cancelled, m.whyCancelled(a.ref))
		case poison:
			m.drop(a)
			m.fail(a.ref, &event.Error{Kind: event.Fatal, Reason: "poison", ExitCode: -1,
				Message: fmt.Sprintf("%d drivers in a row died while this attempt was in flight", m.deaths)})
		default:
			m.command(event.Command{Start: a.request})
		}
		a = next
	}
}

// drop forgets a live attempt: nobody will answer.
func (m *Machine) drop(a *attempt) {
	m.live.remove(a)
	m.state(a.ref).live = nil
	m.giveBack(a.ref, a.gate)
}

// setTimer asks for a wake-up. A node (or the run) has at most one timer of each purpose at a time.
func (m *Machine) setTimer(r ref, due event.Time, why string) {
	m.timerSeq++
	m.timers[m.timerSeq] = timer{r, why}
	if r.node == plan.None {
		m.runTimer = m.timerSeq
	} else {
		m.detail(r).timer = m.timerSeq
	}
	m.command(event.Command{SetTimer: &event.SetTimer{Timer: m.timerSeq, Node: m.path(r), Due: due, Why: why}})
}

type timer struct {
	ref
	why string
}

func (m *Machine) cancelTimer(d *detail) {
	if d.timer != 0 {
		delete(m.timers, d.timer)
		m.command(event.Command{CancelTimer: &event.CancelTimer{Timer: d.timer}})
		d.timer = 0
	}
}

// timerFired goes on where a node waited. A timer that was cancelled is not known any more and changes nothing.
func (m *Machine) timerFired(f *event.TimerFired) {
	t, ok := m.timers[f.Timer]
	if !ok {
		return
	}
	delete(m.timers, f.Timer)
	if t.node == plan.None {
		m.timeout()
		return
	}
	d := m.detail(t.ref)
	d.timer = 0
	switch t.why {
	case "wait":
		m.deliver(t.ref)
	case "backoff":
		m.enqueue(t.ref, work)
	case "timeout":
		m.doom(t.ref, &event.Error{Kind: event.Transient, Reason: "timeout", ExitCode: -1,
			Message: "it did not end within " + time.Duration(m.now-d.started).Round(time.Millisecond).String()})
	}
}
