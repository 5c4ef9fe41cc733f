package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Peer is the service of one attempt that is spoken to over several requests, in a protocol of its own. It is safe for concurrent use.
type Peer struct {
	// URL is the address that the file gives.
	URL *url.URL
	// Client sends requests to the origin of URL, and to no other, with the headers that the file gives. It follows no redirects. What it
	// reads of an answer is without secrets, and at most [limits.MaxAgentAnswer] bytes.
	Client *nethttp.Client

	e       *exchange
	name    string // of the URL in messages
	headers nethttp.Header
	host    string
	trips   nethttp.RoundTripper

	mu      sync.Mutex
	failure *event.Error
	read    int64
}

// Speak speaks with a service for an attempt. ctx ends when the attempt must end. Its error is that of the attempt, unless the attempt was
// cancelled, took too long or was silent for too long.
type Speak func(ctx context.Context, p *Peer, ans *event.AttemptFinished) *event.Error

// Converse carries out an attempt with several requests to the service at the attempt's URL. It takes no room (see [executor.Room]): its
// caller holds it.
func (x *Executor) Converse(ctx context.Context, a event.Attempt, speak Speak) event.AttemptFinished {
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	if ctx.Err() != nil {
		executor.Fail(&ans, executor.WasCancelled())
		return ans
	}
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	e := &exchange{Executor: x, ctx: ctx, attempt: &a, answer: &ans}
	if a.Timeout > 0 {
		e.alarm = time.AfterFunc(a.Timeout, func() { done(errTimeout) })
		defer e.alarm.Stop()
	}
	if a.Agent != nil && a.Agent.Heartbeat > 0 {
		e.silence = time.AfterFunc(a.Agent.Heartbeat, func() { done(errSilent) })
		defer e.silence.Stop()
	}
	p, err := e.peer()
	if err == nil {
		transport := newTransport(&x.opt)
		defer transport.CloseIdleConnections()
		p.trips = transport
		err = speak(context.WithValue(ctx, alarmOf{}, e), p, &ans)
	}
	switch {
	case err == nil:
		ans.Outcome = event.OK
	case ctx.Err() != nil:
		executor.Fail(&ans, e.broken(&request{method: "POST", name: p.name}, ctx.Err()))
	default:
		err.ExitCode = -1
		executor.Fail(&ans, err)
	}
	return ans
}

// peer is the service at the URL of an attempt.
func (e *exchange) peer() (*Peer, *event.Error) {
	u, name, err := e.target()
	if err != nil {
		return &Peer{}, err
	}
	r := &request{headers: nethttp.Header{}}
	r.headers.Set("User-Agent", strings.TrimSuffix("flowrun/"+e.opt.Release, "/"))
	if err := r.given(e.attempt.HTTP.Headers); err != nil {
		return &Peer{}, err
	}
	p := &Peer{URL: u, e: e, name: name, headers: r.headers, host: r.host}
	p.Client = &nethttp.Client{Transport: p, CheckRedirect: func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }}
	return p, nil
}

// Failure is what was wrong with the last request that failed, unless a later one succeeded; nil if nothing was. It has the kind that the
// status of the answer has, and the time to retry that the answer gives.
func (p *Peer) Failure() *event.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// Refuse is the error of an answer that is against the protocol.
func (p *Peer) Refuse(format string, args ...any) *event.Error {
	return &event.Error{Kind: event.Recoverable, Reason: event.ReasonAgent, ExitCode: -1, Message: p.name + ": " + fmt.Sprintf(format, args...)}
}

// note keeps what was wrong with a request.
func (p *Peer) note(failure *event.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = failure
}

// RoundTrip sends one request, as net/http asks it.
func (p *Peer) RoundTrip(req *nethttp.Request) (*nethttp.Response, error) {
	if origin(req.URL) != origin(p.URL) {
		err := refused("%s names an address at another origin, %s, which would receive the headers of the file", p.name, origin(req.URL))
		p.note(err)
		return nil, errors.New(err.Message)
	}
	req = req.Clone(req.Context())
	for name, values := range p.headers { // any order: each by itself
		req.Header[name] = values
	}
	if p.host != "" {
		req.Host = p.host
	}
	to := &request{method: req.Method, name: p.name}
	p.wire(req)
	res, err := p.trips.RoundTrip(req)
	if err != nil {
		if req.Context().Err() == nil {
			p.note(p.e.broken(to, err))
		}
		return nil, err
	}
	wireStatus(p.e.ctx, res)
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400 && res.StatusCode != nethttp.StatusNotModified:
		p.note(wayward(to, res.StatusCode, "elsewhere, and agents of this type follow no redirects. Write the address in url if it is meant"))
	case res.StatusCode >= 400:
		text := p.excerpt(res)
		p.note(unexpected(&response{Response: res, to: to}, text))
	default:
		p.note(nil)
	}
	res.Body = &peerBody{Reader: wiredBody(p.e.ctx, executor.Mask(p.e.ctx).Reader(&counted{res.Body, p})), Closer: res.Body}
	return res, nil
}

// wire shows a request to whoever hears the wire.
func (p *Peer) wire(req *nethttp.Request) {
	if !executor.Wired(p.e.ctx) {
		return
	}
	shown := &request{method: req.Method, name: p.name, headers: req.Header}
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			text, _ := io.ReadAll(io.LimitReader(body, limits.MaxOutput)) // what there is will do
			body.Close()
			shown.body = string(text)
		}
	}
	wireRequest(p.e.ctx, shown)
}

// excerpt is the beginning of a body, without secrets. The body begins with it again.
func (p *Peer) excerpt(res *nethttp.Response) []byte {
	late := time.AfterFunc(excerptWait, func() { res.Body.Close() })
	defer late.Stop()
	text, _ := io.ReadAll(io.LimitReader(res.Body, excerptRead)) // what there is will do
	res.Body = &peerBody{Reader: io.MultiReader(bytes.NewReader(text), res.Body), Closer: res.Body}
	return []byte(executor.Mask(p.e.ctx).Text(string(text)))
}

type peerBody struct {
	io.Reader
	io.Closer
}

// counted counts what a peer says. Each piece of it is a sign of life.
type counted struct {
	from io.Reader
	p    *Peer
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.p.read += int64(n); c.p.read > limits.MaxAgentAnswer {
		c.p.failure = &event.Error{Kind: event.Fatal, Reason: event.ReasonOutputTooLarge, ExitCode: -1,
			Message: fmt.Sprintf("the answers of %s have more than %d bytes", c.p.name, int64(limits.MaxAgentAnswer))}
		return 0, errTooLarge
	}
	if n > 0 && c.p.e.silence != nil {
		c.p.e.silence.Reset(c.p.e.attempt.Agent.Heartbeat)
	}
	return n, err
}
