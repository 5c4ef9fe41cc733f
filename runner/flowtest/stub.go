package flowtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/benchmark"
	"github.com/flowrun/flowrun/runner/request"
)

// stub is a stub with the number of attempts that it answered. An attempt that starts again after a crash counts once.
type stub struct {
	*ir.Stub
	asked int
}

// given is what an attempt was answered, until its end is in the journal: if the attempt starts again after a crash, its answer is the
// same.
type given struct {
	reply  *ir.Reply
	ticket ticketKey // of the attempt that it answered last. All attempts at one work have one key, and the past is told again after a crash.
	done   bool
}

// world carries out the attempts of the host.
type world struct{ *test }

// Attempt implements sim.World.
func (w world) Attempt(a event.Attempt, _ *rand.Rand) (event.AttemptFinished, time.Duration) {
	w.took = 0
	w.begin(&a, w.store.Now())
	ans := w.secretsOf(a.Run).Execute(context.Background(), a)
	if w.trace != nil {
		w.trace.note(&a, ans, w.took)
	}
	return ans, w.took
}

// Holds implements sim.Judge.
func (w world) Holds(run string, condition *event.Late) (bool, error) {
	return w.secretsOf(run).Holds(run, condition)
}

// Stopped implements sim.Stopper: what is cancelled ends at once.
func (w world) Stopped(event.Attempt) time.Duration { return 0 }

// never is how long something takes that never ends.
const never = 2 * value.MaxDuration

// answer carries out an attempt whose values are all there.
func (t *test) answer(ctx context.Context, a event.Attempt) event.AttemptFinished {
	ans := executor.Answer(a)
	ans.Outcome = event.OK
	t.describe(&a)
	if a.Kind == event.NotifyAttempt {
		t.notify(ctx, &a, &ans)
		return ans
	}
	if a.Kind == event.SourceAttempt {
		t.askSource(ctx, &a, &ans)
		return ans
	}
	if a.Kind == event.WorktreeAttempt {
		root := "/worktrees/" + a.Worktree.Run
		ans.Output = (&event.Worktree{Root: root, Dir: root, Branch: a.Worktree.Branch}).Object()
		return ans
	}
	if t.draw != nil {
		t.drawn(&a, &ans)
		return ans
	}
	s := t.stubOf(&a)
	if s == nil {
		t.withoutStub(&a, &ans)
		return ans
	}
	g := t.answered[a.Key]
	if g == nil || g.done {
		g = &given{reply: &s.Replies[min(s.asked, len(s.Replies)-1)]}
		t.answered[a.Key] = g
		s.asked++
	}
	g.ticket = ticketKey{a.Run, a.Ticket}
	if err := t.reply(g.reply, &a, &ans); err != nil {
		t.fail(Failure{Kind: BadReply, At: g.reply.At, Text: err.Error(), After: t.elapsed()})
		executor.Fail(&ans, &event.Error{Kind: event.Fatal, Reason: event.ReasonStart, ExitCode: -1, Message: "the reply of the stub cannot be computed: " + err.Error()})
	}
	return ans
}

// stubOf finds the stub that answers an attempt: of a gate, of the instance, of the step, of the agent; nil if there is none.
func (t *test) stubOf(a *event.Attempt) *stub {
	at := t.where(a.Run, a.Node)
	best, rank := (*stub)(nil), 0
	for _, s := range t.stubs {
		r := 0
		switch {
		case a.Gate != "":
			switch {
			case s.Kind == ir.AgentStub && a.Agent != nil && a.Agent.Name == s.Name:
				r = 1
			case s.Kind == ir.GateStub && gateOf(s.Name) == gateOf(a.Gate):
				if r = 2; s.Path != "" {
					r = at.rank(s.Path, 3)
				}
			}
		case a.Compensate:
			if path, undo := strings.CutSuffix(s.Path, "/compensate"); s.Kind == ir.StepStub && undo {
				r = at.rank(path, 2)
			}
		case s.Kind == ir.StepStub && s.Instance != "":
			if s.Instance == at.instance || s.Instance == at.ownInstance() {
				r = at.rank(s.Path, 5)
			}
		case s.Kind == ir.StepStub && s.Path == "":
			if s.Name == at.name {
				r = 2
			}
		case s.Kind == ir.StepStub:
			r = at.rank(s.Path, 3)
		case s.Kind == ir.AgentStub && a.Agent != nil && a.Agent.Name == s.Name:
			r = 1
		}
		if r > rank {
			best, rank = s, r
		}
	}
	return best
}

// rank is that of a stub for a path: lowest for the node of any run, one more for that of one run, and 0 for another node.
func (at *spot) rank(path string, lowest int) int {
	switch path {
	case at.path:
		return lowest + 1
	case at.own:
		return lowest
	}
	return 0
}

// gateOf is the name of a gate without the workflow and the step in which it stands.
func gateOf(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// withoutStub answers what a test does itself. All else fails the test.
func (t *test) withoutStub(a *event.Attempt, ans *event.AttemptFinished) {
	switch a.Kind {
	case event.NullAgentAttempt:
		ans.Output = a.Agent.With
	case event.RememberAttempt:
		ans.Output = map[string]any{"id": "M-" + value.Text(float64(a.Ticket)), "known": false}
	case event.RecallAttempt:
		ans.Output = map[string]any{"count": 0.0, "items": []any{}, "text": ""}
	case event.NotifyAttempt, event.StoreAttempt, event.HoldAttempt, event.HumanAgentAttempt, event.WorktreeAttempt: // notify or the host answers it
	case event.RunAttempt, event.ExecAgentAttempt, event.ShellAgentAttempt, event.HTTPAgentAttempt, event.MCPAgentAttempt, event.ACPAgentAttempt, event.A2AAgentAttempt, event.ChatAgentAttempt, event.HTTPAttempt, event.SourceAttempt, event.BenchmarkAttempt:
		_ = t.reply(t.missingStub(a), a, ans) // a constant can be computed
	}
}

// asking is the scope of a reply.
type asking struct {
	t *test
	a *event.Attempt
}

// Lookup implements ir.Scope.
func (s asking) Lookup(r ir.Ref) (value.Value, error) {
	a, g := s.a, s.a.Agent
	all := map[string]any{"attempt": float64(a.Attempt), "task": nil, "with": nil, "feedback": nil, "agent": nil, "iteration": nil, "handoff": nil,
		"inputs": map[string]any(s.t.record.runs[a.Run].view.Inputs)}
	if n := s.t.iteration(a.Run, a.Node); n > 0 {
		all["iteration"] = float64(n)
	}
	if g != nil {
		all["task"], all["with"], all["agent"] = g.Task, g.With, g.Name
		if g.Feedback != "" {
			all["feedback"] = g.Feedback
		}
		if g.Handoff != nil {
			all["handoff"] = g.Handoff.Value()
		}
	}
	if r.Name == "" {
		return all, nil
	}
	return all[r.Name], nil
}

// reply answers an attempt by a reply.
func (t *test) reply(r *ir.Reply, a *event.Attempt, ans *event.AttemptFinished) error {
	c := computing{t: t, scope: asking{t, a}}
	t.took = c.duration(r.Takes)
	program := a.HTTP == nil && a.Kind != event.NullAgentAttempt && !ownProtocol(a)
	ans.Stdout, ans.Stderr = c.text(r.Stdout), c.text(r.Stderr)
	if code := c.whole(r.ExitCode, 0); program {
		ans.ExitCode = &code
		if err := executor.ExitError(code); err != nil {
			executor.Fail(ans, err)
		}
	}
	failure := c.value(r.Error)
	switch {
	case c.err != nil:
		return c.err
	case r.Usage != nil:
		ans.Usage = event.ReadUsage(c.value(r.Usage))
	}
	ans.Partial = c.value(r.Partial)
	switch {
	case r.Hang:
		t.took = never
		if a.Agent != nil && a.Agent.Heartbeat > 0 {
			t.took = a.Agent.Heartbeat
			executor.Fail(ans, executor.FellSilent(a.Agent.Heartbeat))
		}
	case r.Lost:
		executor.Fail(ans, &event.Error{Kind: event.Transient, Reason: event.ReasonLost, ExitCode: -1, Message: "lost contact with it"})
	case failure != nil:
		executor.Fail(ans, t.errorOf(failure, a, ans))
	case ans.Outcome != event.OK:
	case a.Benchmark != nil:
		list, _ := c.value(r.Measured).([]any)
		samples := make([]float64, 0, len(list))
		for _, v := range list {
			n, _ := v.(float64)
			samples = append(samples, n)
		}
		benchmark.Finish(context.Background(), t.host.Ask, a, ans, samples)
	case a.HTTP != nil && !ownProtocol(a):
		t.respond(&c, r, a, ans)
	default:
		t.put(&c, r, a, ans)
	}
	return c.err
}

// ownProtocol reports whether an attempt is of an agent that has neither an exit code nor a status.
func ownProtocol(a *event.Attempt) bool {
	return a.Kind == event.MCPAgentAttempt || a.Kind == event.ACPAgentAttempt || a.Kind == event.A2AAgentAttempt
}

// errorOf makes the error that a reply asks for.
func (t *test) errorOf(v value.Value, a *event.Attempt, ans *event.AttemptFinished) *event.Error {
	o, _ := v.(map[string]any)
	e := &event.Error{Kind: event.Recoverable, Reason: event.ReasonUnexplained, ExitCode: -1, Message: "it failed"}
	switch {
	case a.Agent != nil:
		e.Reason = event.ReasonAgent
	case a.HTTP != nil:
		e.Reason = event.ReasonHTTP
	}
	if ans.Error != nil { // of an exit code
		e.ExitCode, e.Kind, e.Reason, e.Message = ans.Error.ExitCode, ans.Error.Kind, ans.Error.Reason, ans.Error.Message
	}
	if status, given := o["status"].(float64); given {
		e.Status, e.Kind, e.Message = int(status), executor.StatusKind(int(status)), fmt.Sprintf("status %d", int(status))
	}
	if kind, given := o["kind"].(string); given {
		e.Kind = event.ErrorKind(kind)
	}
	if message, given := o["message"].(string); given {
		e.Message = message
	}
	e.RetryAfter, _ = o["retry_after"].(float64)
	return e
}

// respond answers a request.
func (t *test) respond(c *computing, r *ir.Reply, a *event.Attempt, ans *event.AttemptFinished) {
	status, body := c.whole(r.Status, 200), c.value(r.Output)
	expected := status >= 200 && status <= 299
	if a.HTTP.Expect != nil {
		expected = false
		for _, want := range a.HTTP.Expect {
			expected = expected || want == status
		}
	}
	switch {
	case !expected:
		executor.Fail(ans, &event.Error{Kind: executor.StatusKind(status), Reason: event.ReasonHTTP, Status: status, ExitCode: -1,
			Message: fmt.Sprintf("%s %s: status %d", a.HTTP.Method, a.HTTP.URL, status)})
	case a.Agent != nil:
		ans.Output = body
	default:
		ans.Output = map[string]any{"status": float64(status), "headers": map[string]any{}, "body": body}
	}
}

// put gives an answer its output, in the form in which a program would give it.
func (t *test) put(c *computing, r *ir.Reply, a *event.Attempt, ans *event.AttemptFinished) {
	if r.Output == nil || c.err != nil {
		if a.Agent != nil && r.Stdout != nil && a.Agent.OutputFormat == "text" {
			ans.Output = strings.TrimRight(ans.Stdout, "\n")
		}
		return
	}
	v := c.value(r.Output)
	switch {
	case c.err != nil:
	case a.Kind != event.RunAttempt || a.OutputFile || r.Stdout != nil:
		ans.Output = v
	case a.Parse == string(ir.ParseJSON):
		ans.Stdout = string(value.Append(nil, v))
	case a.Parse == string(ir.ParseLines):
		lines, _ := v.([]any)
		for _, l := range lines {
			ans.Stdout += value.Text(l) + "\n"
		}
	default:
		ans.Stdout, c.err = request.Text(v)
	}
}

// computing computes the expressions of a reply. The first error stays.
type computing struct {
	t     *test
	scope ir.Scope
	err   error
}

// value is null where there is no expression, or an error.
func (c *computing) value(e *ir.Expr) value.Value {
	if e == nil || c.err != nil {
		return nil
	}
	v, err := c.t.eval.Eval(e, c.scope)
	c.err = err
	return v
}

func (c *computing) text(e *ir.Expr) string {
	v := c.value(e)
	if v == nil {
		return ""
	}
	s, err := request.Text(v)
	if c.err == nil {
		c.err = err
	}
	return s
}

func (c *computing) whole(e *ir.Expr, otherwise int) int {
	v := c.value(e)
	if v == nil {
		return otherwise
	}
	f, ok := v.(float64)
	if (!ok || f != float64(int(f))) && c.err == nil {
		c.err = fmt.Errorf("%s: a whole number is needed, but this is %.60s", e.Text, value.Text(v))
	}
	return int(f)
}

func (c *computing) duration(e *ir.Expr) time.Duration {
	if e == nil {
		return 0
	}
	text := c.text(e)
	if c.err != nil {
		return 0
	}
	if value.NoDuration(text) {
		return 0
	}
	d, err := value.ParseDuration(text)
	c.err = err
	return d
}
