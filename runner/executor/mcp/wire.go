package mcp

import (
	"bytes"
	"context"
	"io"
	nethttp "net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/runner/executor"
)

// cancelWait is how long a call that is cancelled waits until the server has been told: the SDK tells it in the background.
const cancelWait = time.Second

// farewell is the notification that a call is cancelled, as it stands in a message.
var farewell = []byte(`"method":"notifications/cancelled"`)

// told notices that a server was told that a call is cancelled.
type told struct {
	once sync.Once
	now  chan struct{}
}

func (t *told) notice(message []byte) {
	if bytes.Contains(message, farewell) {
		t.once.Do(func() { close(t.now) })
	}
}

// wait waits until it was, if ctx says that calls are cancelled.
func (t *told) wait(ctx context.Context) {
	if ctx.Err() == nil {
		return
	}
	late := time.NewTimer(cancelWait)
	defer late.Stop()
	select {
	case <-t.now:
	case <-late.C:
	}
}

// wire is the standard input and output of a server. Lines that are not of the protocol, as a greeting of the program, are reported and left
// out; they would end the connection. It is read by one goroutine.
type wire struct {
	io.ReadWriteCloser
	told   *told
	report func(line string)

	ready []byte // whole messages that were not given
	lines executor.Splitter
	flaw  atomic.Pointer[string] // what was wrong with the last line that was left out
	piece []byte
}

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.ReadWriteCloser.Write(p)
	w.told.notice(p)
	return n, err
}

func (w *wire) Read(p []byte) (int, error) {
	if w.piece == nil {
		w.piece, w.lines.Max = make([]byte, 64<<10), maxMessage
	}
	for len(w.ready) == 0 {
		n, err := w.ReadWriteCloser.Read(w.piece)
		w.lines.Take(w.piece[:n], w.hear)
		if err != nil && len(w.ready) == 0 {
			return 0, err
		}
	}
	n := copy(p, w.ready)
	w.ready = w.ready[n:]
	return n, nil
}

func (w *wire) hear(line []byte) {
	switch {
	case line == nil:
		w.tell("it wrote a line of more than 4 MiB")
	case line[0] == '{' || line[0] == '[':
		w.ready = append(append(w.ready, line...), '\n')
	default:
		w.tell("it wrote a line that is not JSON: " + executor.Clip(string(line), 200))
	}
}

// tell reports what was wrong with a line.
func (w *wire) tell(flaw string) {
	w.flaw.Store(&flaw)
	w.report(flaw)
}

// trips sends requests, and notices what they tell.
type trips struct {
	nethttp.RoundTripper
	told *told
}

func (t trips) RoundTrip(r *nethttp.Request) (*nethttp.Response, error) {
	res, err := t.RoundTripper.RoundTrip(r)
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			message, _ := io.ReadAll(body)
			t.told.notice(message)
		}
	}
	return res, err
}
