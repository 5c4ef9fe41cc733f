package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/heap"
	"github.com/flowrun/flowrun/runner/shared"
)

// outsider is the driver of requests that stand for other processes: see Faults.Busy. They end by themselves.
const outsider = -1

// MaxBusy is how long such a request holds what it was granted.
const MaxBusy = 10 * time.Second

// asks are the attempts of one run that wait for admission, or have it.
type asks struct {
	waiting map[uint64]event.Attempt // by ticket: neither granted nor refused
	refused map[uint64]string        // keys by ticket; of those that hold what they have, too
	granted map[uint64]grant         // by ticket, until the end of the attempt
	ended   map[uint64]admission.End // by ticket, until the end of the attempt is durable
}

// grant is an attempt that was granted.
type grant struct {
	attempt event.Attempt
	at      event.Time
}

// line is the state of admission in the store.
type line struct {
	state     *admission.State
	order     int64
	outsiders heap.Heap[coming] // the ends of requests of other processes
	peaks     map[string]int    // units of quotas that were in use at once at most, by name
	goesOn    event.Time        // when the first request of a line can start that waits for a moment; 0: none does
}

// fail ends the life with its first error.
func (p *life) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// apply carries out an operation and wakes those whose requests it granted.
func (p *life) apply(op admission.Operation) admission.Answer {
	answer := p.change(op)
	for _, r := range answer.Granted {
		if asks := op.Ask != nil && r.Key == op.Ask.Key; !asks && r.Driver != outsider {
			p.fail(p.wake(r))
		}
	}
	return answer
}

// change is apply that wakes nobody yet.
func (p *life) change(op admission.Operation) admission.Answer {
	e := p.e
	if e.line.state == nil {
		e.line.state = admission.Load(nil, &e.shared)
	}
	answer, err := e.line.state.Apply(op, e.now)
	p.fail(err)
	e.line.goesOn = 0
	e.postAll(answer.Posts)
	for _, r := range answer.Granted {
		e.line.notePeaks(r)
	}
	for _, w := range answer.Waits {
		if e.line.goesOn == 0 || w.At < e.line.goesOn {
			e.line.goesOn = w.At
		}
	}
	return answer
}

// notePeaks notes how many units are in use of the quotas of a request that was granted.
func (l *line) notePeaks(r *admission.Request) {
	for i := range r.Needs {
		if n := &r.Needs[i]; n.Kind == event.NeedQuota && n.Units > 0 {
			if l.peaks == nil {
				l.peaks = map[string]int{}
			}
			l.peaks[n.Name] = max(l.peaks[n.Name], l.state.InUse(n))
		}
	}
}

// MostInUse returns how many units of a quota were in use at once at most.
func (s *Store) MostInUse(quota string) int { return s.line.peaks[quota] }

// wake starts an attempt that was granted, or tells its node.
func (p *life) wake(r *admission.Request) error {
	e := p.e
	if r.Refused {
		s := e.runs[r.Run]
		return e.commit(func() { s.hearGrant(r) })
	}
	at := slices.IndexFunc(p.drivers, func(d *driver) bool { return d.s.Start.Header.Run == r.Run })
	if at < 0 {
		return fmt.Errorf("sim: a request of run %s, which nobody drives, was granted", r.Run)
	}
	p.drivers[at].admitted(r.Ticket, r.Key)
	return nil
}

func (s *stored) hearGrant(r *admission.Request) {
	s.hear(event.External{Kind: event.ExternalGranted, Node: r.Node, Data: float64(r.Ticket)})
}

// forgetDead removes the requests of processes that have died.
func (p *life) forgetDead() {
	e := p.e
	var gone []admission.End
	if e.line.state != nil {
		for _, r := range e.line.state.Requests() {
			if r.Driver != outsider && !e.alive[r.Driver] {
				gone = append(gone, admission.End{Key: r.Key, Lost: true})
			}
		}
	}
	if gone != nil {
		p.apply(admission.Operation{End: gone})
	}
}

func (p *life) remove(keys []string) {
	if len(keys) > 0 {
		p.apply(admission.Operation{Remove: keys})
	}
}

// mustAsk reports whether an attempt without needs asks for admission: its agent starts nothing now, or it stands in the line of the agent.
func (d *driver) mustAsk(a *event.Attempt) bool {
	if a.Agent == nil {
		return false
	}
	for _, key := range d.asks.refused { // any order: one at most has the key
		if key == a.Key {
			return true
		}
	}
	return d.isHalted(a)
}

// isHalted reports whether the agent of an attempt starts nothing now.
func (d *driver) isHalted(a *event.Attempt) bool {
	if a.Agent == nil {
		return false
	}
	halted, err := shared.IsHalted(&d.e.shared, a.Agent.Name, d.e.now)
	d.life.fail(err)
	return halted
}

// askAdmission asks for the admission of an attempt.
func (d *driver) askAdmission(a event.Attempt) {
	e := d.e
	if a.Agent != nil {
		a.Admission = admission.NeedAgent(&a)
	}
	if e.strikes(e.opts.Faults.Busy, &e.struck.Busy) {
		e.line.order++
		r := admission.Request{Key: fmt.Sprint("outsider ", e.line.order), Driver: outsider, Priority: a.Admission.Priority, Order: e.line.order, Needs: a.Admission.Needs}
		d.life.apply(admission.Operation{Ask: &r})
		e.line.outsiders.Push(coming{at: e.now.Add(time.Duration(e.rng.Int64N(int64(MaxBusy)))), order: uint64(e.line.order), outsider: r.Key})
	}
	e.line.order++
	for i := range a.Admission.Needs {
		if _, err := shared.Declare(&e.shared, &a.Admission.Needs[i]); err != nil {
			d.life.fail(err)
		}
	}
	r := admission.Request{Key: a.Key, Run: a.Run, Node: a.Node, Ticket: a.Ticket, Driver: e.epoch, Priority: a.Admission.Priority, Order: e.line.order,
		Needs: a.Admission.Needs}
	d.asks.waiting[a.Ticket] = a
	for ticket, key := range d.asks.refused { // any order: one at most has the key
		if key == a.Key {
			delete(d.asks.refused, ticket)
		}
	}
	switch answer := d.life.apply(admission.Operation{Ask: &r}); answer.Verdict {
	case admission.Granted:
		d.admitted(a.Ticket, a.Key)
	case admission.Refused:
		d.refused(a, answer.Obstacle)
	default:
		d.plan(coming{at: e.now.Add(admission.Patience), refuse: a.Ticket})
	}
}

// admitted starts an attempt that was granted.
func (d *driver) admitted(ticket uint64, key string) {
	a := d.asks.waiting[ticket]
	delete(d.asks.waiting, ticket)
	if a.Kind == event.HoldAttempt { // it holds what it has until it is withdrawn
		d.asks.refused[ticket] = key
		d.plan(coming{at: d.e.now, answer: &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK, StartedAt: d.e.wall()}})
		return
	}
	d.asks.granted[ticket] = grant{a, d.e.now}
	d.execute(a)
}

// refuse answers an attempt that was not granted within its patience.
func (d *driver) refuse(ticket uint64) {
	a, waits := d.asks.waiting[ticket]
	if !waits {
		return
	}
	answer := d.life.apply(admission.Operation{Refuse: a.Key})
	switch _, waits := d.asks.waiting[ticket]; {
	case answer.Verdict == admission.Refused:
		d.refused(a, answer.Obstacle)
	case waits:
		d.life.fail(fmt.Errorf("sim: attempt %d of run %s was granted and not told", ticket, a.Run))
	}
}

// refused answers an attempt that meets an obstacle.
func (d *driver) refused(a event.Attempt, o admission.Obstacle) {
	delete(d.asks.waiting, a.Ticket)
	delete(d.live, a.Ticket)
	d.asks.refused[a.Ticket] = a.Key
	answer := o.Refusal(d.e.now)
	answer.Ticket, answer.Node, answer.Attempt, answer.Gate, answer.Compensate = a.Ticket, a.Node, a.Attempt, a.Gate, a.Compensate
	d.session.Answer(&answer)
}

// withdraw takes an attempt that nobody wants out of the line, or gives its grant back. It reports whether the attempt was waiting
// for its first answer.
func (d *driver) withdraw(ticket uint64) (waited bool) {
	if a, waits := d.asks.waiting[ticket]; waits {
		delete(d.asks.waiting, ticket)
		d.life.remove([]string{a.Key})
		return true
	}
	if key, refused := d.asks.refused[ticket]; refused {
		delete(d.asks.refused, ticket)
		d.life.remove([]string{key})
	}
	return false
}

// withdrawUnstarted gives back the grant of an attempt that is cancelled before it starts: the machine has asked for it because an
// earlier attempt with the key was granted.
func (d *driver) withdrawUnstarted(a event.Attempt) {
	for ticket, key := range d.asks.refused { // any order: one at most has the key
		if key == a.Key {
			d.withdraw(ticket)
			return
		}
	}
}

// noteEnds notes what the ends of attempts give back that are about to become durable.
func (d *driver) noteEnds(events []event.Event) {
	for i := 0; i < len(events) && len(d.asks.granted) > 0; i++ {
		f := events[i].AttemptFinished
		if f == nil {
			continue
		}
		if g, known := d.asks.granted[f.Ticket]; known {
			end, warning := admission.NewEnd(&g.attempt, f, g.at, d.e.now, d.e.judge)
			if f.Warning == "" {
				f.Warning = warning
			}
			d.asks.ended[f.Ticket] = end
			delete(d.asks.granted, f.Ticket)
		}
	}
}

// release gives back what attempts held whose ends become durable. The caller wakes those to whom it is granted.
func (d *driver) release(events []event.Event) (granted []*admission.Request) {
	var ends []admission.End
	for i := 0; i < len(events) && len(d.asks.ended) > 0; i++ {
		if f := events[i].AttemptFinished; f != nil {
			if end, known := d.asks.ended[f.Ticket]; known {
				ends = append(ends, end)
				delete(d.asks.ended, f.Ticket)
			}
		}
	}
	if ends == nil {
		return nil
	}
	answer := d.life.change(admission.Operation{End: ends})
	for _, r := range answer.Granted {
		if r.Driver != outsider && r.Refused {
			d.e.runs[r.Run].hearGrant(r)
		} else if r.Driver != outsider {
			granted = append(granted, r)
		}
	}
	return granted
}

// Limits implements engine.Sharer.
func (e *Engine) Limits(context.Context) ([]event.Limit, error) {
	if e.line.state == nil {
		return admission.Load(nil, &e.shared).List(e.now)
	}
	var live []*admission.Request
	for _, r := range e.line.state.Requests() {
		if r.Driver == outsider || e.alive[r.Driver] {
			live = append(live, r)
		}
	}
	return admission.Load(live, &e.shared).List(e.now)
}

// ChangeLimit implements engine.Sharer. The lines go on when somebody drives runs.
func (e *Engine) ChangeLimit(_ context.Context, c event.LimitChange) (changed bool, err error) {
	dead := e.commit(func() {
		var done shared.LimitChanged
		if done, err = shared.ChangeLimit(&e.shared, c, e.now); len(done.Resources) > 0 && e.line.state != nil {
			e.line.goesOn = e.now
		}
		changed = done.Changed
		e.postAll(done.Posts)
	})
	if dead != nil {
		err = dead
	}
	return changed, err
}

// judge evaluates the condition of a breaker.
func (e *Engine) judge(run string, condition *event.Late) (bool, error) {
	judge, can := e.opts.World.(Judge)
	if !can {
		return false, errors.New("conditions cannot be evaluated here")
	}
	return judge.Holds(run, condition)
}

// leaveLine removes all requests of a run that is not driven any more.
func (d *driver) leaveLine() {
	d.asks = newAsks()
	d.life.remove(d.requests())
}

// requests lists the keys of the requests of a run.
func (d *driver) requests() (keys []string) {
	if d.e.line.state != nil {
		for _, r := range d.e.line.state.Requests() {
			if r.Run == d.run() {
				keys = append(keys, r.Key)
			}
		}
	}
	return keys
}

// goOn carries out what happens in the lines by now: requests of other processes end, and first requests can start that waited for a moment.
func (p *life) goOn() {
	e := p.e
	if e.line.goesOn != 0 && e.line.goesOn <= e.now {
		p.apply(admission.Operation{Remove: []string{}})
	}
	for len(e.line.outsiders) > 0 && e.line.outsiders[0].at <= e.now {
		p.remove([]string{e.line.outsiders.Pop().outsider})
	}
}

// recallRequests finds the requests of a run that stayed in the line while the run was parked.
func (d *driver) recallRequests() {
	if d.e.line.state == nil {
		return
	}
	for _, r := range d.e.line.state.Requests() {
		if r.Run == d.s.Start.Header.Run {
			d.asks.refused[r.Ticket] = r.Key
		}
	}
}

// lineMoment is when something happens in the lines; 0: nothing does by itself.
func (s *Store) lineMoment() event.Time {
	at := s.line.goesOn
	if out := s.line.outsiders; len(out) > 0 && (at == 0 || out[0].at < at) {
		at = out[0].at
	}
	return at
}

func newAsks() asks {
	return asks{waiting: map[uint64]event.Attempt{}, refused: map[uint64]string{}, granted: map[uint64]grant{}, ended: map[uint64]admission.End{}}
}
