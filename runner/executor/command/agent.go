package command

import (
	"context"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

// listen prepares the standard output for its reader: what is going to be parsed is kept whole, and an agent that answers in
// JSON gets a listener; nil for all others. What that hears is masked; once more where it has been decoded.
func (x *Executor) listen(ctx context.Context, a *event.Attempt, out *capture) *protocol.Lines {
	switch {
	case a.Agent == nil:
		if a.Gate == "" && a.Parse != string(ir.ParseNone) {
			out.limit = limits.MaxOutput
		}
		return nil
	case a.Agent.OutputFormat == "text":
		out.limit = limits.MaxOutput
		return nil
	}
	said := &protocol.Lines{Judge: a.Gate != "", Now: time.Now, Zone: time.LoadLocation, Live: func(kind, text string) {
		if x.opt.Live != nil {
			x.opt.Live(*a, kind, executor.Mask(ctx).Text(text))
		}
	}, Note: func(e event.Learned) { executor.Note(ctx, e) }}
	said.Session = func(id string) { x.enter(ctx, a, id) }
	if len(a.Agent.ResumeSession) > 0 {
		said.Worked = said.Session
	}
	out.also = said.Write
	return said
}

// judgeAgent turns an agent's end and what it said into an answer. What we did to it counts first; then two last
// words, which contradict each other; then an error that it reported; then its exit code; then its result, on standard error if there is none on
// standard output.
func judgeAgent(a *event.Attempt, ans *event.AttemptFinished, e ended, out *capture, said *protocol.Lines) {
	ans.Stdout = out.inline()
	exit := e.err(a.Timeout)
	if e.why == silent {
		exit = e.with(executor.FellSilent(a.Agent.Heartbeat))
	}
	if e.why != "" {
		executor.Fail(ans, exit)
		if said != nil {
			_ = said.End() // an error after its time was up says nothing more
			ans.Partial, ans.Usage = said.Partial(), said.Usage()
		} else if text := strings.TrimRight(out.text(), "\n"); text != "" && !out.cut() {
			ans.Partial = text
		}
		return
	}
	if said == nil {
		switch {
		case exit != nil:
			executor.Fail(ans, exit)
		case out.cut():
			executor.Fail(ans, executor.TooLarge("the standard output", out.total))
		default:
			ans.Outcome, ans.Output = event.OK, strings.TrimRight(out.text(), "\n")
		}
		return
	}
	failure := said.End()
	ans.Learned, ans.Usage = said.Learned(), said.Usage()
	ans.Warning = said.LeftOut(a.Agent.Memory)
	switch {
	case failure != nil:
		executor.Fail(ans, e.with(failure))
	case exit != nil:
		if told := said.Complaint(ans.Stderr); told != nil && exit.Reason == event.ReasonExit {
			exit = e.with(told)
		}
		executor.Fail(ans, exit)
	default:
		output, err := said.Output()
		if err != nil && err.Reason == event.ReasonBadJSON {
			if last, failure, found := protocol.OnStderr(ans.Stderr); found {
				output, err = last, failure
			}
		}
		if err == nil && a.Agent.OutputFormat == ir.OutputAssistant {
			ans.Partial = output
			output, err = protocol.Answer(output, a.Agent.Wanted)
		}
		if err != nil {
			executor.Fail(ans, e.with(err))
			return
		}
		ans.Outcome, ans.Output, ans.Partial = event.OK, output, nil
	}
}
