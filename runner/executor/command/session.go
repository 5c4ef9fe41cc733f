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

// inSession carries out an attempt of an agent, which may keep sessions. It continues the session of an earlier try if there is one; if the agent
// cannot, or if there is none, it begins a session. A program that does not know the arguments for that, as an old release of it, works without.
// The answer of an attempt that breaks off has the session in which the next one goes on.
func (x *Executor) inSession(ctx context.Context, a event.Attempt, ans event.AttemptFinished) event.AttemptFinished {
	agent, lost := *a.Agent, ""
	before := agent.Session
	if a.Agent = &agent; len(agent.ResumeSession) == 0 { // its request has the session
		out := x.process(ctx, a, ans, nil)
		return leave(&agent, out, agent.Session == before)
	}
	if before != "" {
		again := withArguments(&a, agent.ResumeSession, before, executor.Again(&agent, "The work on the task below broke off."))
		out := x.process(ctx, again, ans, nil)
		if !knowsNothing(&out) {
			return leave(again.Agent, out, true)
		}
		lost = fmt.Sprintf("the agent cannot continue the session %s: %s. The task began again in a new session", before, said(&out))
		x.tell(ctx, &a, lost)
	}
	agent.Session = ""
	words := agent.NewSession
	if len(words) == 0 {
		out := x.process(ctx, a, ans, nil)
		return leave(&agent, warned(out, lost), false)
	}
	x.enter(ctx, &a, newSession())
	begun := withArguments(&a, words, agent.Session, "")
	out := x.process(ctx, begun, ans, nil)
	if !knowsNothing(&out) || !strings.Contains(out.Stderr, strings.TrimLeft(words[0], "-")) {
		return leave(begun.Agent, warned(out, lost), false)
	}
	lost = fmt.Sprintf("the agent does not take %s: %s. It works without a session that another attempt can continue", words[0], said(&out))
	x.tell(ctx, &a, lost)
	return warned(x.process(ctx, a, ans, nil), lost)
}

// said is the standard error of an attempt, in short.
func said(ans *event.AttemptFinished) string {
	return executor.Clip(strings.Join(strings.Fields(ans.Stderr), " "), 500)
}

// warned is an answer with a warning, if it has none.
func warned(ans event.AttemptFinished, warning string) event.AttemptFinished {
	if ans.Warning == "" {
		ans.Warning = warning
	}
	return ans
}

// isArgument reports whether an id can be an argument: the program must not take it for an option.
func isArgument(id string) bool {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:/@-", r))
	}
	return !strings.HasPrefix(id, "-") && !strings.ContainsFunc(id, odd)
}

// enter notes the session of an attempt, durably if it can.
func (x *Executor) enter(ctx context.Context, a *event.Attempt, id string) {
	if id == a.Agent.Session || id == "" || len(id) > executor.MaxSession || len(a.Agent.ResumeSession) > 0 && !isArgument(id) {
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

// knowsNothing reports whether an agent exited without a word that flowrun understands: it does not have the session, as on another machine, or
// does not know the arguments.
func knowsNothing(ans *event.AttemptFinished) bool {
	return ans.Outcome == event.Failed && ans.Error.Reason == event.ReasonExit && ans.Usage == nil && ans.Partial == nil
}

// leave puts the session into the answer of an attempt that broke off, and into the answer of an agent that keeps its session. If an attempt
// continued a session, only a limit lets it continue once more: a session that breaks off twice may be the reason.
func leave(g *event.AgentRequest, ans event.AttemptFinished, continued bool) event.AttemptFinished {
	e := ans.Error
	if e == nil && g.KeepSession || e != nil && (e.Kind == event.RateLimited || e.Kind == event.Transient && !continued) && e.Reason != event.ReasonStart {
		ans.Session = g.Session
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
