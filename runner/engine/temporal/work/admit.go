package work

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// haltedFor is how long a worker believes that an agent was not stopped. A person who stops an agent, and a moment that the other side names, are
// in force after that.
const haltedFor = time.Second

// giveBackFor is how long a worker tries to give back what an attempt had. The run gives it back when it ends.
const giveBackFor = time.Minute

// halts are the agents of which nothing starts now, as this worker knows it.
type halts struct {
	mu    sync.Mutex
	known map[string]halt
}

type halt struct {
	halted bool
	at     time.Time
}

func (w *Worker) now() event.Time { return w.Clock.At(time.Now()) }

// isHalted reports whether an agent may start nothing now. If that is not known, the attempt asks for its admission.
func (w *Worker) isHalted(ctx context.Context, agent string) bool {
	w.halts.mu.Lock()
	known := w.halts.known[agent]
	w.halts.mu.Unlock()
	if time.Since(known.at) < haltedFor {
		return known.halted
	}
	reply, found, err := w.Shared.Look(ctx, wire.Request{Halted: []string{agent}})
	halted := err != nil || found && len(reply.Halted) > 0
	w.halts.mu.Lock()
	defer w.halts.mu.Unlock()
	if w.halts.known == nil {
		w.halts.known = map[string]halt{}
	}
	w.halts.known[agent] = halt{halted, time.Now()}
	return halted
}

// forget forgets what is known of an agent, because its other side has named a moment.
func (h *halts) forget(agent string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.known, agent)
}

// admitAndExecute carries out an attempt once it is admitted, and gives back what it had. An attempt that is queued was not carried out.
func (w *Worker) admitAndExecute(ctx context.Context, t *wire.Task, secrets bool) (f event.AttemptFinished, queued bool) {
	a := &t.Attempt
	if w.Shared == nil {
		return w.execute(ctx, *a, secrets), false
	}
	switch {
	case a.Agent != nil && (a.Admission != nil || t.InLine || w.isHalted(ctx, a.Agent.Name)):
		a.Admission = admission.NeedAgent(a)
	case a.Admission == nil:
		f = w.execute(ctx, *a, secrets)
		if admission.NamesMoment(a, &f) {
			w.giveBack(ctx, a, &f, f.StartedAt)
		}
		return f, false
	}
	granted := t.Granted
	if granted == 0 {
		reply, err := w.ask(ctx, t)
		switch {
		case err != nil:
			return failed(a, event.ReasonCancelled, "cancelled before it started"), false
		case reply.Refusal != "":
			return failed(a, event.ReasonLimit, reply.Refusal), false
		case reply.Verdict == admission.Queued:
			return f, true
		case reply.Verdict != admission.Granted:
			return reply.Obstacle.Refusal(w.now()), false
		}
		granted = reply.At
	}
	f = w.execute(ctx, *a, secrets)
	if f.StartedAt == 0 {
		f.StartedAt = granted
	}
	if !errors.Is(context.Cause(ctx), executor.Stopping) { // the next worker that has it asks again, and has it already
		w.giveBack(ctx, a, &f, granted)
	}
	return f, false
}

func (w *Worker) ask(ctx context.Context, t *wire.Task) (wire.Reply, error) {
	a := &t.Attempt
	r := admission.Request{Key: a.Key, Run: a.Run, Node: a.Node, Ticket: a.Ticket, Priority: a.Admission.Priority, Needs: a.Admission.Needs}
	replies, err := w.Shared.Ask(ctx, wire.Request{ID: fmt.Sprintf("admit %s/%d", a.Run, a.Ticket), Admit: &r, Stands: t.InLine})
	if err != nil {
		return wire.Reply{}, err
	}
	return replies[0], nil
}

// giveBack says how an attempt ended that was admitted, or that names the moment before which nothing else of its agent starts.
func (w *Worker) giveBack(ctx context.Context, a *event.Attempt, f *event.AttemptFinished, granted event.Time) {
	end, warning := admission.NewEnd(a, f, granted, w.now(), w.judge)
	if f.Warning == "" {
		f.Warning = warning
	}
	if a.Agent != nil && end.Until != 0 {
		w.halts.forget(a.Agent.Name)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackFor)
	defer cancel()
	_, _ = w.Shared.Ask(ctx, wire.Request{ID: fmt.Sprintf("end %s/%d", a.Run, a.Ticket),
		End: &wire.Finish{Holder: wire.Holder{Key: a.Key, Ticket: a.Ticket}, End: end}})
}

func (w *Worker) judge(run string, condition *event.Late) (bool, error) {
	judge, can := w.Executor.(executor.Judge)
	if !can {
		return false, errors.New("conditions cannot be evaluated here")
	}
	return judge.Holds(run, condition)
}
