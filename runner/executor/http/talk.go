package http

import (
	"context"
	"errors"
	"io"
	nethttp "net/http"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Talk is one attempt that sends as many requests as it likes, under one timeout and one heartbeat, in one place of the room. The
// attempt has a part HTTP, whose headers go with each request.
type Talk struct{ e *exchange }

// Talk carries out one attempt by work. An error of work is that of the attempt. Work fills the answer, and sets the outcome to OK if it
// returns nil.
func (x *Executor) Talk(ctx context.Context, a event.Attempt, work func(t *Talk, ans *event.AttemptFinished) *event.Error) event.AttemptFinished {
	return x.within(ctx, a, func(e *exchange) *event.Error { return work(&Talk{e}, e.answer) })
}

// Context ends when the attempt must end.
func (t *Talk) Context() context.Context { return t.e.ctx }

// Beat is a sign of life of the agent.
func (t *Talk) Beat() {
	if t.e.silence != nil {
		t.e.silence.Reset(t.e.attempt.Agent.Heartbeat)
	}
}

// Ended is the error of an attempt that had to end while what was done; nil if it had not to.
func (t *Talk) Ended(what string) *event.Error {
	if t.e.ctx.Err() == nil {
		return nil
	}
	return t.e.broken(&request{name: what}, t.e.ctx.Err())
}

// Reply is the answer to a request of a Talk. Secrets in the body are masked. A redirect is an answer like any other: what goes to one
// origin goes to no other.
type Reply struct {
	Status int
	Header nethttp.Header
	What   string // the request, in messages
	Body   io.Reader
	res    *response
	e      *exchange
}

// Post sends a POST with a body of JSON. The caller closes the reply.
func (t *Talk) Post(address string, headers map[string]string, body []byte) (*Reply, *event.Error) {
	e := t.e
	u, name, wrong := e.address(address)
	if wrong != nil {
		return nil, wrong
	}
	r := &request{method: "POST", url: u, name: name, headers: nethttp.Header{}, body: string(body)}
	r.headers.Set("Content-Type", "application/json")
	r.headers.Set("Accept", "text/event-stream, application/json")
	r.headers.Set("Accept-Encoding", "identity") // a packed stream comes late
	r.headers.Set("User-Agent", strings.TrimSuffix("flowrun/"+e.opt.Release, "/"))
	for _, list := range []map[string]string{headers, e.attempt.HTTP.Headers} {
		if err := r.given(list); err != nil {
			return nil, err
		}
	}
	res, err := e.once(r)
	if err != nil {
		return nil, err
	}
	if t.Beat(); e.silence != nil {
		res.Body = &attentive{res.Body, e}
	}
	answer := &response{res, r, executor.Mask(e.ctx), e.ctx}
	content, wrongBody := answer.content(limits.MaxAgentAnswer)
	if wrongBody != nil {
		res.Body.Close()
		return nil, e.broken(r, wrongBody)
	}
	return &Reply{Status: res.StatusCode, Header: res.Header, What: r.what(), Body: content, res: answer, e: e}, nil
}

// Close ends the reply.
func (r *Reply) Close() { r.res.Body.Close() }

// failureRead is how much of a failure of a Talk is read: an object with details.
const failureRead = 64 << 10

// Excerpt is the beginning of the body of a failure, as far as it can be had within a second.
func (r *Reply) Excerpt() []byte { return excerpt(r.res, failureRead) }

// Unexpected is the error that the status of the reply is, with what the server said of it.
func (r *Reply) Unexpected(said []byte) *event.Error { return unexpected(r.res, said) }

// Broken is the error of a body that could not be read to its end.
func (r *Reply) Broken(err error) *event.Error {
	if errors.Is(err, errTooLarge) {
		return tooLarge(r.res, limits.MaxAgentAnswer)
	}
	return r.e.broken(r.res.to, err)
}

// Say tells whoever watches the attempt what its agent says while it works. Secrets must be masked.
func (t *Talk) Say(kind, text string) {
	if live := t.e.opt.Live; live != nil {
		live(*t.e.attempt, kind, text)
	}
}

// RetryAfter is how many seconds a header asks to wait: a number of seconds, a Unix time, or a date.
func (r *Reply) RetryAfter(header string) (seconds float64, known bool) {
	return secondsUntil(r.Header, header)
}
