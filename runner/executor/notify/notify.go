// Package notify carries out attempts that send a message to channels.
//
// It asks the store which channels get the message, because equal messages count as one over all runs of a store; then it sends to
// all of these channels at once, three times at most, and tells the store what became of each. If a process dies in between, the next
// one asks with the same key, and sends only to those channels of which the store does not know an end. So a message is sent at least
// once; a second copy has the same key.
//
// Programs and requests are carried out by the executors of those kinds. The package knows no machine, no engine and no journal.
// Enter at [New]; send.go has the ways to send. Hosts with another clock use [Begin] and [Plan].
package notify

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/policy"
	"github.com/flowrun/flowrun/runner/shared"
)

const (
	// Tries is how often a message is tried on a channel.
	Tries = 3
	// MaxReason is the size of the reason why a message could not be sent, in bytes.
	MaxReason = 1 << 10
	// MaxTry bounds one try.
	MaxTry = 10 * time.Second
)

// Delay is how long to wait before a try (from 2 on): a second, then two, and up to a quarter more. Equal arguments give equal delays.
func Delay(key, channel string, try int) time.Duration {
	base := time.Second << (try - 2)
	more := policy.Backoff{Base: base / 4, Max: base / 4, Multiplier: 1, Jitter: policy.Full}
	return base + more.Delay(2, policy.Seed(key, channel, try))
}

// Ask carries out a request of the store; see engine.Sharer.
type Ask func(ctx context.Context, r event.StoreRequest) (value.Value, error)

// Executor sends messages. It is safe for concurrent use.
type Executor struct {
	next    executor.Executor // for programs and requests
	ask     Ask
	options Options
}

// Options are the surroundings of an Executor. The zero value works.
type Options struct {
	// TLS, if set, is what certificates of mail servers are checked against in place of the system's roots.
	TLS *tls.Config
	// Bell, if set, rings in place of the terminal.
	Bell func() error
	// URL is where people reach the dashboard, without a slash at the end; "": messages have no link.
	URL string
}

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor that has programs and requests carried out by another one.
func New(next executor.Executor, ask Ask, o Options) *Executor { return &Executor{next, ask, o} }

// Execute sends one message.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	if a.Notify.Direct {
		x.sendAgain(ctx, &a, &ans)
		return ans
	}
	plan, err := Begin(ctx, x.ask, &a)
	if err != nil {
		executor.Fail(&ans, failure(event.ReasonStore, err))
		return ans
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range plan.Sends {
		s := &plan.Sends[i]
		all.Go(func() {
			why := x.deliver(ctx, &a, s)
			mu.Lock()
			defer mu.Unlock()
			plan.Ended(s, why)
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		executor.Fail(&ans, executor.WasCancelled())
		return ans
	}
	m := executor.Mask(ctx)
	plan.Finish(ctx, x.ask, &ans, func(text string) string { return executor.Clip(m.Message(text), MaxReason) })
	return ans
}

// sendAgain sends a message that was given up, to its first channel.
func (x *Executor) sendAgain(ctx context.Context, a *event.Attempt, ans *event.AttemptFinished) {
	s := Send{Channel: &a.Notify.To[0], Message: a.Notify.Message}
	if err := x.deliver(ctx, a, &s); err != nil {
		executor.Fail(ans, &event.Error{Kind: event.Transient, Reason: event.ReasonUnexplained, ExitCode: -1, Message: err.Error()})
		return
	}
	ans.Outcome = event.OK
}

// deliver tries one channel until the message is sent.
func (x *Executor) deliver(ctx context.Context, a *event.Attempt, s *Send) (err error) {
	s.Message.URL = x.link(&s.Message)
	for try := 1; try <= Tries; try++ {
		if try > 1 {
			select {
			case <-time.After(Delay(a.Key, s.Channel.Name, try)):
			case <-ctx.Done():
				return err
			}
		}
		if err = x.send(ctx, a, s); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// link is where people read about what a message is about.
func (x *Executor) link(m *event.Message) string {
	if m.URL != "" || x.options.URL == "" {
		return m.URL
	}
	page := x.options.URL + "/runs/" + url.PathEscape(m.Run)
	if m.Node != "" {
		page += "/node?path=" + url.QueryEscape(m.Node)
	}
	return page
}

// Plan is what is to be sent, and what has become of it.
type Plan struct {
	Sends   []Send
	message event.Message
	place   string
	fates   map[string]string // by channel: a word of the lists of the output
	reasons map[string]string // by channel, of those that failed here
	order   []string
}

// Send is a message on its way to one channel.
type Send struct {
	Channel *event.Channel
	Message event.Message
}

// Begin asks the store which channels get the message of an attempt.
func Begin(ctx context.Context, ask Ask, a *event.Attempt) (*Plan, error) {
	n, r := a.Notify, a.BeginNotice()
	p := &Plan{message: r.Message, place: r.Place, fates: map[string]string{}, reasons: map[string]string{}}
	v, err := ask(ctx, event.StoreRequest{Notice: r})
	if err != nil {
		return nil, err
	}
	o, _ := v.(map[string]any)
	for i := range n.To {
		c := &n.To[i]
		p.order = append(p.order, c.Name)
		fate, _ := o[c.Name].(map[string]any)
		switch fate["do"] {
		case shared.NoticeSuppress:
			p.fates[c.Name] = "suppressed"
		case shared.NoticeSent, shared.NoticeFailed:
			p.fates[c.Name], _ = fate["do"].(string)
		default:
			s := Send{Channel: c, Message: n.Message}
			before, _ := fate["before"].(float64)
			s.Message.Suppressed = int(before)
			p.Sends = append(p.Sends, s)
		}
	}
	return p, nil
}

// Ended notes that a message was sent, or why it could not be.
func (p *Plan) Ended(s *Send, why error) {
	p.fates[s.Channel.Name] = "sent"
	if why != nil {
		p.fates[s.Channel.Name], p.reasons[s.Channel.Name] = "failed", why.Error()
	}
}

// Finish tells the store what has become of the message, and makes the answer of the attempt.
func (p *Plan) Finish(ctx context.Context, ask Ask, ans *event.AttemptFinished, hide func(string) string) {
	end := map[string]string{}
	for i := range p.Sends {
		name := p.Sends[i].Channel.Name
		end[name] = hide(p.reasons[name])
	}
	if len(end) > 0 {
		if _, err := ask(ctx, event.StoreRequest{Notice: &event.NoticeRequest{Message: p.message, Place: p.place, End: end}}); err != nil {
			executor.Fail(ans, failure(event.ReasonStore, err))
			return
		}
	}
	out := map[string]any{}
	for _, fate := range []string{"sent", "suppressed", "failed"} {
		names := []any{}
		for _, name := range p.order {
			if p.fates[name] == fate {
				names = append(names, name)
			}
		}
		out[fate] = names
	}
	ans.Outcome, ans.Output = event.OK, out
	var reasons []string
	for _, name := range slices.Sorted(maps.Keys(end)) {
		if end[name] != "" {
			reasons = append(reasons, fmt.Sprintf("channel %q: %s", name, end[name]))
		}
	}
	switch why := strings.Join(reasons, "; "); {
	case len(out["failed"].([]any)) == len(p.order):
		ans.Output = nil
		executor.Fail(ans, &event.Error{Kind: event.Transient, Reason: event.ReasonUnexplained, ExitCode: -1, Message: "the message reached no channel: " + why})
	case why != "":
		ans.Warning = "the message did not reach each channel: " + why
	}
}

func failure(reason event.Reason, err error) *event.Error {
	return &event.Error{Kind: event.Blocking, Reason: reason, ExitCode: -1, Message: err.Error()}
}
