package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// goOn stands before the task of an attempt that continues a session.
const goOn = "The work on the task below broke off. Continue where you stopped, and do not repeat what is done.\n\n"

// inSession carries out an attempt of an agent that keeps sessions. It continues the session of an earlier try if there is one; if the agent
// cannot, or if there is none, it begins a session. The answer of an attempt that breaks off has the session in which the next one goes on.
func (x *Executor) inSession(ctx context.Context, a event.Attempt, ans event.AttemptFinished) event.AttemptFinished {
	lost := ""
	if before := a.Agent.Session; before != "" {
		again := a.Agent.ResumeSession
		out := x.process(ctx, withArguments(&a, again, before, goOn), ans, nil)
		if !knowsNothing(&out) {
			return leave(out, before, true)
		}
		lost = fmt.Sprintf("the agent cannot continue the session %s: %s. The task began again in a new session", before, executor.Clip(strings.Join(strings.Fields(out.Stderr), " "), 500))
		x.tell(ctx, &a, lost)
	}
	agent := *a.Agent
	agent.Session, a.Agent = "", &agent
	if agent.NewSession != nil {
		id := newSession()
		x.enter(ctx, &a, id)
		a = withArguments(&a, agent.NewSession, id, "")
	}
	out := x.process(ctx, a, ans, nil)
	if lost != "" && out.Warning == "" {
		out.Warning = lost
	}
	return leave(out, a.Agent.Session, false)
}

// enter notes the session of an attempt, durably if it can.
func (x *Executor) enter(ctx context.Context, a *event.Attempt, id string) {
	if id == a.Agent.Session || id == "" || len(id) > executor.MaxSession {
		return
	}
	a.Agent.Session = id
	if x.opt.Session == nil {
		return
	}
	if err := x.opt.Session(ctx, *a, id); err != nil && ctx.Err() == nil {
		x.tell(ctx, a, "after a crash the attempt cannot continue its session: "+err.Error())
	}
}

func (x *Executor) tell(ctx context.Context, a *event.Attempt, text string) {
	if x.opt.Live != nil {
		x.opt.Live(*a, "log", executor.Mask(ctx).Text(text))
	}
}

// withArguments is an attempt with more arguments, and with words before its task.
func withArguments(a *event.Attempt, arguments []string, session, before string) event.Attempt {
	out, agent := *a, *a.Agent
	agent.Session, agent.Task = session, before+agent.Task
	out.Agent, out.Argv = &agent, slices.Clip(a.Argv)
	for _, word := range arguments {
		out.Argv = append(out.Argv, strings.ReplaceAll(word, ir.SessionID, session))
	}
	return out
}

// knowsNothing reports whether an agent that was to continue a session exited at once, without a word that flowrun understands: it does not have the
// session, as on another machine.
func knowsNothing(ans *event.AttemptFinished) bool {
	return ans.Outcome == event.Failed && ans.Error.Reason == event.ReasonExit && ans.Usage == nil && ans.Partial == nil
}

// leave puts the session into the answer of an attempt that broke off. An attempt that continued one does so after a limit alone: a session that
// breaks off twice may be the reason.
func leave(ans event.AttemptFinished, session string, continued bool) event.AttemptFinished {
	e := ans.Error
	if e != nil && (e.Kind == event.RateLimited || e.Kind == event.Transient && !continued) && e.Reason != event.ReasonStart {
		ans.Session = session
	}
	return ans
}

// newSession is the id of a new session: a random UUID (version 4 of RFC 9562).
func newSession() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
