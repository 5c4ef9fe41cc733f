package executor

import (
	"bytes"
	"context"
	"sync"
)

// WireLine is one line of what goes between flowrun and an agent, without secrets.
type WireLine struct {
	Sent bool   // by flowrun
	Part string // request, header, body, status, command, stdin, stdout or stderr
	Text string
}

type wireKey struct{}

// WithWire gives an attempt's context who hears what goes over the wire, one line after the other.
func WithWire(ctx context.Context, hear func(WireLine)) context.Context {
	var mu sync.Mutex
	return context.WithValue(ctx, wireKey{}, func(l WireLine) {
		mu.Lock()
		defer mu.Unlock()
		hear(l)
	})
}

// Wired reports whether somebody hears what goes over the wire.
func Wired(ctx context.Context) bool { return ctx.Value(wireKey{}) != nil }

// Wire tells the lines of a text, masked; it tells nobody if nobody listens.
func Wire(ctx context.Context, sent bool, part, text string) {
	w := WireTap(ctx, sent, part)
	if w == nil {
		return
	}
	w.Write([]byte(Mask(ctx).Text(text)))
	w.End()
}

// maxWireLine is where a line is cut that does not end.
const maxWireLine = 16 << 10

// Tap makes lines of a stream. A nil Tap hears nothing.
type Tap struct {
	tell func(string)
	line []byte
}

// WireTap returns a Tap for a stream whose secrets are masked; nil if nobody listens.
func WireTap(ctx context.Context, sent bool, part string) *Tap {
	hear, _ := ctx.Value(wireKey{}).(func(WireLine))
	if hear == nil {
		return nil
	}
	return &Tap{tell: func(text string) { hear(WireLine{sent, part, text}) }}
}

// Write takes a piece of the stream.
func (t *Tap) Write(p []byte) {
	for t != nil && len(p) > 0 {
		n := bytes.IndexByte(p, '\n')
		part := p
		if n >= 0 {
			part = p[:n]
		}
		if room := maxWireLine - len(t.line); len(part) > room {
			t.line = append(t.line, part[:room]...)
			p = p[room:]
			t.flush("…")
			continue
		}
		t.line = append(t.line, part...)
		if n < 0 {
			return
		}
		t.flush("")
		p = p[n+1:]
	}
}

// End takes the end of the stream.
func (t *Tap) End() {
	if t != nil && len(t.line) > 0 {
		t.flush("")
	}
}

func (t *Tap) flush(more string) {
	t.tell(Valid(bytes.TrimSuffix(t.line, []byte("\r"))) + more)
	t.line = t.line[:0]
}
