package command

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// request is what an agent reads on its standard input: one line of JSON, or for input = "text" the task, and after a
// blank line what with holds, as JSON.
func request(a *event.Attempt) []byte {
	g := a.Agent
	if g.Input == "text" {
		b := append([]byte(g.Task), '\n')
		if g.With != nil {
			b = append(value.Append(append(b, '\n'), g.With), '\n')
		}
		return b
	}
	return append(value.Append(nil, map[string]any{
		"protocol":        "flowrun/1",
		"run":             a.Run,
		"step":            a.Node,
		"attempt":         float64(a.Attempt),
		"task":            g.Task,
		"with":            g.With,
		"feedback":        g.Feedback,
		"idempotency_key": a.Key,
	}), '\n')
}

// listen makes the listener for an agent that answers in JSON.
func (x *Executor) listen(a *event.Attempt) *lines {
	return &lines{live: func(kind, text string) {
		if x.opt.Live != nil {
			x.opt.Live(*a, kind, text)
		}
	}}
}

// judgeAgent turns an agent's end and what it said into an answer. What we did to it counts first; then two finals,
// which are none; then an error that it reported; then its exit code; then its result.
func judgeAgent(a *event.Attempt, ans *event.AttemptFinished, e ended, out *capture, said *lines) {
	ans.Stdout = out.inline()
	exit := e.err(a.Timeout)
	if e.why != "" {
		fail(ans, exit)
		return
	}
	if said == nil {
		switch {
		case exit != nil:
			fail(ans, exit)
		case out.cut():
			fail(ans, tooLarge("the standard output", out.total))
		default:
			ans.Outcome, ans.Output = event.OK, strings.TrimRight(out.text(), "\n")
		}
		return
	}
	said.end()
	switch {
	case said.finals > 1:
		fail(ans, e.with(&event.Error{Kind: event.Recoverable, Reason: "agent",
			Message: fmt.Sprintf("the agent gave %d results or errors; one is the last word", said.finals)}))
	case said.failure != nil:
		fail(ans, e.with(said.failure))
	case exit != nil:
		fail(ans, exit)
	default:
		output, err := said.output()
		if err != nil {
			fail(ans, e.with(err))
			return
		}
		ans.Outcome, ans.Output = event.OK, output
	}
}
