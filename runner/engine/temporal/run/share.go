package run

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// What runs share is kept by a workflow of its own: see package share. A run asks it by errands, which are activities: one at a time, with all the
// requests that have come up meanwhile, in their order. So a question to people is there before its end, and a wide for_each needs few
// activities. The workflow answers what waits by signals.

// errand is a request on behalf of the run.
type errand struct {
	wire.Request
	done func(*wire.Reply) // nil: the reply does not matter
}

// errands are the requests of a run.
type errands struct {
	lane   []*errand // not sent yet
	out    []*errand // sent together
	future workflow.Future
	rest   *shared.Rest // what was said last
}

// patient is an attempt that waits for its first answer: it is granted within [admission.Patience], or refused.
type patient struct {
	wire.Task
	due     event.Time
	refused bool // the refusal was asked for, and its reply decides
}

// push has a request sent.
func (d *drive) push(r wire.Request, done func(*wire.Reply)) {
	if r.Attempt == nil {
		d.carried.Errands++
		r.ID = fmt.Sprintf("%s/%d", d.start.Header.Run, d.carried.Errands)
	}
	d.carried.Shares = true
	d.errands.lane = append(d.errands.lane, &errand{r, done})
}

// errandRetries say how an errand is repeated. The server repeats it until it is done: nothing is done twice.
var errandRetries = temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 10 * time.Second}

// errandSilence is how long the worker of an errand may be silent.
const errandSilence = 5 * time.Second

// sendErrands sends the requests that wait, if none are on their way.
func (d *drive) sendErrands() {
	e := &d.errands
	for e.future == nil && len(e.lane) > 0 {
		n := min(len(e.lane), wire.MaxRequests)
		arg, err := packErrands(e.lane[:n])
		for ; n > 1 && (err != nil || len(arg) > wire.MaxTask); n /= 2 {
			arg, err = packErrands(e.lane[:n/2])
		}
		out := slices.Clone(e.lane[:n])
		if e.lane = e.lane[n:]; err == nil && len(arg) > wire.MaxPayload {
			err = fmt.Errorf("the request has %d bytes, and the server takes %d", len(arg), wire.MaxPayload)
		}
		if err != nil {
			out[0].end(&wire.Reply{Refusal: err.Error()})
			continue
		}
		retries := errandRetries
		ctx := workflow.WithActivityOptions(d.ctx, workflow.ActivityOptions{
			TaskQueue:  wire.ShareQueue(d.start.Store),
			ActivityID: d.name("share"),
			// A worker that died is noticed by its silence alone. Nothing is lost if one is taken for dead that lives.
			HeartbeatTimeout: min(d.heartbeat(), errandSilence), StartToCloseTimeout: time.Hour, ScheduleToCloseTimeout: forever, RetryPolicy: &retries,
		})
		e.out, e.future = out, workflow.ExecuteActivity(ctx, wire.Errand, arg)
	}
}

func packErrands(list []*errand) ([]byte, error) {
	var a wire.Asking
	for _, e := range list {
		a.Requests = append(a.Requests, e.Request)
	}
	return wire.Encode(&a)
}

func (e *errand) end(r *wire.Reply) {
	if e.done != nil {
		e.done(r)
	}
}

// collectErrands hears the replies.
func (d *drive) collectErrands() {
	e := &d.errands
	if e.future == nil || !e.future.IsReady() {
		return
	}
	var b []byte
	var told wire.Told
	err := e.future.Get(d.ctx, &b)
	if err == nil {
		err = wire.Decode(b, &told)
	}
	out := e.out
	e.out, e.future = nil, nil
	var again []*errand
	for i, x := range out {
		switch {
		case err != nil:
			x.end(&wire.Reply{Refusal: err.Error()})
		case i >= len(told.Replies) || told.Replies[i].Again:
			again = append(again, x)
		default:
			x.end(&told.Replies[i])
		}
	}
	e.lane = append(again, e.lane...)
}

// isAsking reports whether something of the run waits for what runs share to answer soon.
func (d *drive) isAsking() bool {
	return len(d.errands.lane) > 0 || d.errands.future != nil || len(d.patients) > 0
}

// askStore asks for the attempt of a step.
func (d *drive) askStore(a event.Attempt) {
	a.Base = nil
	d.push(wire.Request{Attempt: &a}, func(r *wire.Reply) {
		f := r.Finished
		if f == nil {
			f = new(engine.NeverStarted(a))
			f.Error = &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, Message: r.Refusal, ExitCode: -1}
		}
		f.Ticket, f.Node, f.Attempt, f.Gate, f.Compensate = a.Ticket, a.Node, a.Attempt, a.Gate, a.Compensate
		d.Answer(f)
	})
}

// cancelUnsent answers an attempt whose request was not sent yet.
func (d *drive) cancelUnsent(ticket uint64) {
	for i, e := range d.errands.lane {
		if e.Attempt != nil && e.Attempt.Ticket == ticket {
			f := engine.NeverStarted(*e.Attempt)
			d.errands.lane = slices.Delete(d.errands.lane, i, i+1)
			d.Answer(&f)
			return
		}
	}
}

// askHold asks for what a group holds.
func (d *drive) askHold(a event.Attempt) {
	_, stands := d.forgetRefused(a.Key)
	r := admission.Request{Key: a.Key, Run: d.start.Header.Run, Node: a.Node, Ticket: a.Ticket, Priority: a.Admission.Priority, Needs: a.Admission.Needs}
	t := wire.Task{Attempt: a, InLine: true}
	d.push(wire.Request{Admit: &r, Stands: stands}, func(r *wire.Reply) { d.hearVerdict(&t, r) })
}

// hearVerdict does what admission says of an attempt that no worker has.
func (d *drive) hearVerdict(t *wire.Task, r *wire.Reply) {
	a := t.Attempt
	switch {
	case r.Refusal != "":
		f := engine.NeverStarted(a)
		f.Error = &event.Error{Kind: event.Fatal, Reason: event.ReasonLimit, Message: r.Refusal, ExitCode: -1}
		d.Answer(&f)
	case r.Verdict == admission.Granted:
		d.startGranted(t, r.At)
	case r.Verdict == admission.Queued:
		d.wait(t)
	case r.Verdict == admission.Refused:
		d.noteRefused(a)
		f := r.Obstacle.Refusal(d.now())
		f.Ticket, f.Node, f.Attempt, f.Gate, f.Compensate = a.Ticket, a.Node, a.Attempt, a.Gate, a.Compensate
		d.Answer(&f)
	default:
		f := engine.NeverStarted(a)
		d.Answer(&f)
	}
}

// wait lets an attempt wait for its first answer.
func (d *drive) wait(t *wire.Task) {
	if at, granted := d.grants[t.Ticket]; granted {
		d.startGranted(t, at)
		return
	}
	d.patients = append(d.patients, &patient{Task: *t, due: d.now().Add(admission.Patience)})
}

// startGranted starts an attempt that was granted.
func (d *drive) startGranted(t *wire.Task, at event.Time) {
	a := t.Attempt
	delete(d.grants, a.Ticket)
	if a.Kind == event.HoldAttempt { // it holds what it has until it is withdrawn
		d.noteRefused(a)
		d.Answer(&event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK, StartedAt: at})
		return
	}
	d.handOver(&wire.Task{Attempt: a, Granted: at, InLine: true})
}

// hearGrants takes what signals say: an attempt was granted, or the turn of the run has come.
func (d *drive) hearGrants() {
	var b []byte
	for d.granted.ReceiveAsync(&b) {
		d.hearGrant(b)
	}
	left := d.patients[:0]
	for _, p := range d.patients {
		at, granted := d.grants[p.Ticket]
		switch {
		case granted && !p.refused:
			d.startGranted(&p.Task, at)
			continue
		case !p.refused && p.due <= d.now():
			p.refused = true
			d.push(wire.Request{Refuse: &wire.Holder{Key: p.Key, Ticket: p.Ticket}}, func(r *wire.Reply) {
				if d.endPatient(p.Ticket) != nil {
					d.hearVerdict(&p.Task, r)
				}
			})
		}
		left = append(left, p)
	}
	d.patients = left
}

func (d *drive) hearGrant(body []byte) {
	var g wire.Grant
	if err := wire.Decode(body, &g); err != nil {
		workflow.GetLogger(d.ctx).Warn("a grant cannot be read", "error", err)
		return
	}
	if g.Ticket == 0 {
		d.hasTurn = true
		return
	}
	if d.grants == nil {
		d.grants = map[uint64]event.Time{}
	}
	d.grants[g.Ticket] = g.At
}

// endPatient takes an attempt out of those that wait for their first answer; nil: it is not one of them.
func (d *drive) endPatient(ticket uint64) *patient {
	for i, p := range d.patients {
		if p.Ticket == ticket {
			d.patients = slices.Delete(d.patients, i, i+1)
			return p
		}
	}
	return nil
}

// nextPatient is when the first of them was patient enough; 0: none waits.
func (d *drive) nextPatient() (due event.Time) {
	for _, p := range d.patients {
		if !p.refused && (due == 0 || p.due < due) {
			due = p.due
		}
	}
	return due
}

// noteRefused remembers an attempt that stands in a line, or holds what it has.
func (d *drive) noteRefused(a event.Attempt) {
	if d.carried.Refused == nil {
		d.carried.Refused = map[uint64]string{}
	}
	d.carried.Refused[a.Ticket] = a.Key
}

// forgetRefused forgets the attempt that has asked before with a key: another one asks.
func (d *drive) forgetRefused(key string) (ticket uint64, refused bool) {
	for t, k := range d.carried.Refused { // any order: one at most has the key
		if k == key {
			ticket, refused = t, true
		}
	}
	delete(d.carried.Refused, ticket)
	return ticket, refused
}

// withdraw takes an attempt that nobody wants out of its lines, or gives back what it holds.
func (d *drive) withdraw(ticket uint64) {
	if p := d.endPatient(ticket); p != nil {
		d.remove(&p.Task)
		d.Answer(new(engine.NeverStarted(p.Task.Attempt)))
		return
	}
	if key, refused := d.carried.Refused[ticket]; refused {
		delete(d.carried.Refused, ticket)
		d.push(wire.Request{Remove: &wire.Holder{Key: key, Ticket: ticket}}, nil)
	}
}

// remove takes an attempt out of its lines that asked, perhaps, and did not begin.
func (d *drive) remove(t *wire.Task) {
	if d.asks(t) {
		d.push(wire.Request{Remove: &wire.Holder{Key: t.Key, Ticket: t.Ticket}}, nil)
	}
}

// asks reports whether an attempt may have asked for its admission.
func (d *drive) asks(t *wire.Task) bool {
	return d.start.Store != "" && (t.Admission != nil || t.InLine)
}

// lose answers for an attempt whose worker is gone, once what it held is given back.
func (d *drive) lose(t *wire.Task, f event.AttemptFinished) {
	if !d.asks(t) {
		d.Answer(&f)
		return
	}
	end := admission.End{Key: t.Key, Lost: true}
	if t.Admission != nil {
		end.Needs = t.Admission.Needs
	}
	d.push(wire.Request{End: &wire.Finish{Holder: wire.Holder{Key: t.Key, Ticket: t.Ticket}, End: end}}, func(*wire.Reply) { d.Answer(&f) })
}

// tell says what a round means to what runs share.
func (d *drive) tell(r *engine.Round) {
	n := wire.News{Run: d.start.Header.Run, Leaves: engine.Leaves(r.Out.Commands), Asks: engine.Asks(r.Out.Commands)}
	due, idle := d.Fold().Due()
	if n.Rest = shared.RestOf(&d.Session.Start().First, due, idle); n.Rest != nil {
		if last := d.errands.rest; last != nil && *last == *n.Rest {
			n.Rest = nil
		} else {
			d.errands.rest = n.Rest
		}
	}
	if d.start.Store != "" && (n.Leaves != nil || n.Asks != nil || n.Rest != nil) {
		d.push(wire.Request{News: &n}, nil)
	}
}

// enter lets a run that begins hear of its events, and waits for its turn in its group.
func (d *drive) enter() error {
	if d.start.Store == "" {
		return nil
	}
	s, err := d.start.Engine()
	if err != nil {
		return err
	}
	e := wire.Enter{Run: s.Header.Run, Callers: d.start.Callers, Began: d.Clock.At(workflow.GetInfo(d.ctx).WorkflowStartTime)}
	if e.Group, err = engine.GroupOf(d.Group, &s); err != nil { // whoever has started it has asked, too
		d.cancel(err.Error())
		return nil
	}
	if e.Events, err = engine.EventsOf(d.Events, &s); err != nil {
		return err
	}
	if e.Group.Name == "" && len(e.Events) == 0 {
		return nil
	}
	var reply *wire.Reply
	d.push(wire.Request{Enter: &e}, func(r *wire.Reply) { reply = r })
	for reply == nil {
		d.sendErrands()
		if err := workflow.Await(d.ctx, func() bool { return d.errands.future == nil || d.errands.future.IsReady() }); err != nil {
			return err
		}
		d.collectErrands()
	}
	if e.Group.Name != "" || d.start.Rules == 0 {
		d.receive() // a run that waits for its turn can be cancelled
	}
	switch {
	case reply.Refusal != "":
		d.cancel(reply.Refusal)
	case reply.Deadlock != nil:
		d.deadlock = reply.Deadlock
		d.cancel(reply.Deadlock.Error())
	case reply.Skip != "":
		d.start.First.Skip = reply.Skip
	case reply.Behind != "":
		for !d.hasTurn && !d.calledOff() {
			if err := workflow.Await(d.ctx, d.isNews); err != nil {
				return err
			}
			d.receive()
		}
	}
	return nil
}

// calledOff reports whether the run was cancelled before it began.
func (d *drive) calledOff() bool {
	return slices.ContainsFunc(d.Queued(), func(ev event.Event) bool { return ev.External != nil && ev.External.Kind == event.ExternalCancel })
}

// leave says that the run has ended, and waits until all was said.
func (d *drive) leave(end *event.End) error {
	first := &d.Session.Start().First
	shares := d.carried.Shares || first.Parent == "" && (end.Status == event.FailedS || first.RetryOf != "")
	if d.start.Store != "" && (shares || d.start.Tells) {
		d.push(wire.Request{Closed: shared.EndOf(first, end), Quiet: !shares}, nil)
	}
	for {
		d.sendErrands()
		if d.errands.future == nil {
			return nil
		}
		if err := workflow.Await(d.ctx, d.errands.future.IsReady); err != nil {
			return err
		}
		d.collectErrands()
	}
}
