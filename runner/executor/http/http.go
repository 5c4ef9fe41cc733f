// Package http carries out attempts that are HTTP requests: http steps, and agents of type http.
//
// It knows how to send one request, follow a bounded number of redirects, read a bounded part of the answer, and say what
// kind of failure a status or a broken connection is. It knows no machine, engine or journal: everything stands in the
// attempt. Enter at [New] and [Executor.Execute]; redirect.go is the life of a request, judge.go what an answer means.
//
// What always holds, whatever a server does:
//
//   - Execute returns within the attempt's timeout, and at once when its context is done. Without a timeout a server that
//     keeps the connection open can take for ever; connecting cannot (see [dialWait]).
//   - Memory does not grow with the answer: see [limits.MaxHeader], [limits.MaxOutput], [limits.MaxAgentAnswer].
//   - A request is sent once. Where sending it twice could do something twice, it gets a connection of its own, because on one
//     that was used before nobody can tell a request that was not read from one that was carried out.
//   - What the file says in headers and in the body goes to the origin that it names, and to no other; and no secret, wherever it
//     stands. A URL has no password in it.
//
// Connections that were idle may be used again for requests that change nothing; nothing else outlives an attempt.
package http

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

const (
	// dialWait bounds a connection's making, and tlsWait the handshake.
	dialWait = 30 * time.Second
	tlsWait  = 15 * time.Second
	// idleWait is how long an idle connection is kept, idlePerHost how many of a host and idleMax how many in all.
	idleWait    = 30 * time.Second
	idlePerHost = 8
	idleMax     = 64
)

// Options says how an Executor speaks. The zero value works.
type Options struct {
	// Release stands in the User-Agent.
	Release string
	// Proxy gives the proxy for a request; nil means what HTTP_PROXY, HTTPS_PROXY and NO_PROXY say. Loopback has none.
	Proxy func(*nethttp.Request) (*url.URL, error)
	// TLS, if set, is what certificates are checked against in place of the system's roots.
	TLS *tls.Config
	// Live, if set, hears what an agent says while it works: kind is progress, heartbeat or log. It is called by the
	// attempt's own goroutine, several attempts at once, and must not block.
	Live func(a event.Attempt, kind, text string)
	// Room bounds how many attempts are under way at once; nil is: no bound.
	Room *executor.Room
	// Wait, if set, hears why an attempt waits for its start for so long.
	Wait func(why error)
}

// Executor carries out attempts. It is safe for concurrent use.
type Executor struct {
	opt    Options
	shared *nethttp.Transport // for requests that change nothing
	single *nethttp.Transport // a connection each
}

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor. Close it when no attempt is under way any more.
func New(opt Options) *Executor {
	if opt.Proxy == nil {
		opt.Proxy = nethttp.ProxyFromEnvironment
	}
	x := &Executor{opt: opt, shared: newTransport(&opt), single: newTransport(&opt)}
	x.single.DisableKeepAlives = true
	return x
}

func newTransport(opt *Options) *nethttp.Transport {
	return &nethttp.Transport{
		Proxy:                  opt.Proxy,
		DialContext:            patient(opt.Wait, (&net.Dialer{Timeout: dialWait}).DialContext),
		TLSClientConfig:        opt.TLS.Clone(),
		TLSHandshakeTimeout:    tlsWait,
		MaxIdleConns:           idleMax,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleWait,
		MaxResponseHeaderBytes: limits.MaxHeader,
		DisableCompression:     true, // body.go does it, and bounds both sides
	}
}

// Close closes the connections that are idle. Execute must not be called afterwards.
func (x *Executor) Close() {
	x.shared.CloseIdleConnections()
	x.single.CloseIdleConnections()
}

// Execute carries out one attempt. A server that misbehaves is an answer, never an error of ours.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	return x.within(ctx, a, (*exchange).carryOut)
}

// within carries out one attempt by work, under the attempt's timeout and its agent's heartbeat.
func (x *Executor) within(ctx context.Context, a event.Attempt, work func(*exchange) *event.Error) event.AttemptFinished {
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	if ctx.Err() != nil {
		executor.Fail(&ans, executor.WasCancelled())
		return ans
	}
	if !x.opt.Room.Enter(ctx, x.opt.Wait) {
		executor.Fail(&ans, executor.WasCancelled())
		return ans
	}
	defer x.opt.Room.Leave()
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
	if err := work(e); err != nil {
		executor.Fail(&ans, err)
	}
	return ans
}

// exchange is one attempt under way.
type exchange struct {
	*Executor
	ctx     context.Context
	attempt *event.Attempt
	answer  *event.AttemptFinished
	alarm   *time.Timer // nil without a timeout
	silence *time.Timer // nil without a heartbeat
}

// carryOut sends what the attempt asks for and understands what comes back.
func (e *exchange) carryOut() *event.Error {
	req, err := e.first()
	if err != nil {
		return err
	}
	res, err := e.send(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if e.silence != nil {
		res.Body = &attentive{res.Body, e}
	}
	if e.attempt.Agent != nil {
		return e.judgeAgent(res)
	}
	return e.judgeStep(res)
}

// attentive is the body of an agent's answer: each piece of it is a sign of life.
type attentive struct {
	io.ReadCloser
	e *exchange
}

func (a *attentive) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if n > 0 {
		a.e.silence.Reset(a.e.attempt.Agent.Heartbeat)
	}
	return n, err
}

// alarmOf is under what a request's context holds its exchange.
type alarmOf struct{}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

// patient makes a dialer wait where the process has no file descriptor left. The attempt's time begins anew then.
func patient(tell func(error), d dial) dial {
	return func(ctx context.Context, network, address string) (c net.Conn, err error) {
		waited := false
		err = executor.UntilPlenty(ctx, tell, func() (err error) {
			if e, ok := ctx.Value(alarmOf{}).(*exchange); ok && e.alarm != nil && waited {
				e.alarm.Reset(e.attempt.Timeout)
			}
			waited = true
			c, err = d(ctx, network, address)
			return err
		})
		return c, err
	}
}
