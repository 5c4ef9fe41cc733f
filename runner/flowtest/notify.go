package flowtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/notify"
)

// notify sends a message as the executor does, but to the stubs of its channels, and takes it down. Without a stub a message is
// sent at once.
func (t *test) notify(ctx context.Context, a *event.Attempt, ans *event.AttemptFinished) {
	plan, err := notify.Begin(ctx, t.host.Ask, a)
	if err != nil {
		executor.Fail(ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, ExitCode: -1, Message: err.Error()})
		return
	}
	longest := time.Duration(0)
	for i := range plan.Sends {
		s := &plan.Sends[i]
		after, why := t.deliver(a, s)
		longest = max(longest, after)
		if why == nil {
			t.takeDown(s, after)
		}
		plan.Ended(s, why)
	}
	plan.Finish(ctx, t.host.Ask, ans, func(text string) string { return text })
	t.took = longest
}

// deliver tries a channel until its stub takes the message, and returns how long that takes.
func (t *test) deliver(a *event.Attempt, s *notify.Send) (after time.Duration, why error) {
	var by *stub
	for _, stub := range t.stubs {
		if stub.Kind == ir.ChannelStub && stub.Name == s.Channel.Name {
			by = stub
		}
	}
	if by == nil {
		return 0, nil
	}
	for try := 1; try <= notify.Tries; try++ {
		if try > 1 {
			after += notify.Delay(a.Key, s.Channel.Name, try)
		}
		reply := &by.Replies[min(by.asked, len(by.Replies)-1)]
		by.asked++
		var took time.Duration
		if took, why = t.receive(reply, a); took > notify.MaxTry {
			took, why = notify.MaxTry, fmt.Errorf("it exceeded its timeout of %s", notify.MaxTry)
		}
		if after += took; why == nil {
			return after, nil
		}
	}
	return after, why
}

// receive is one try.
func (t *test) receive(r *ir.Reply, a *event.Attempt) (took time.Duration, why error) {
	c := computing{t: t, scope: asking{t, a}}
	took = c.duration(r.Takes)
	failure, status, code := c.value(r.Error), c.whole(r.Status, 200), c.whole(r.ExitCode, 0)
	switch {
	case c.err != nil:
		t.fail(Failure{Kind: BadReply, At: r.At, Text: c.err.Error(), After: t.elapsed()})
		return took, c.err
	case r.Hang, r.Lost:
		return never, nil
	case failure != nil:
		return took, errors.New(t.errorOf(failure, a, &event.AttemptFinished{}).Message)
	case status < 200 || status > 299:
		return took, fmt.Errorf("status %d", status)
	case code != 0:
		return took, errors.New(executor.ExitError(code).Message)
	}
	return took, nil
}

// takeDown keeps a message that was sent.
func (t *test) takeDown(s *notify.Send, after time.Duration) {
	m, at := &s.Message, t.store.Now().Add(after)
	o := map[string]any{"channel": s.Channel.Name, "title": m.Title, "text": m.Text, "level": m.Level, "kind": string(m.Kind), "run": m.Run,
		"workflow": m.Workflow, "node": m.Node, "error": nil, "key": m.Key, "data": m.Data, "at": at.Sub(t.start).Seconds(),
		"suppressed": float64(m.Suppressed), "signature": nil, "decide": nil}
	if e := m.Error; e != nil {
		o["error"] = errorObject(&event.Error{Kind: e.Kind, Reason: e.Reason, Message: e.Message, ExitCode: -1})
	}
	if s.Channel.Type == ir.ChannelWebhook && s.Channel.Secret != "" {
		o["signature"] = notify.Sign(s.Channel.Secret, at.Go().Unix(), notify.Body(m))
	}
	if m.Decide != "" {
		o["decide"] = m.Decide
	}
	t.told = append(t.told, o)
}
