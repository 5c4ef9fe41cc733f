package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/runner/trace"
)

const (
	// MaxWaiting bounds the runs that wait to be sent. A run that ends while so many wait is not sent.
	MaxWaiting = 1000
	// MaxSpans bounds the spans of a request. The batch processors of OpenTelemetry have the same number.
	MaxSpans = 512
	// MaxTry bounds the time in which a request is tried again, and MaxWait that between two tries.
	MaxTry  = time.Minute
	MaxWait = 30 * time.Second
	// CloseWithin bounds the time that [Exporter.Close] waits for a collector.
	CloseWithin = 3 * time.Second
)

// Figures count what an exporter did since it was made.
type Figures struct {
	Sent      uint64 // spans that the collector took
	LostSpans uint64 // spans that it did not take
	LostRuns  uint64 // runs of which spans are missing, or all
	Waiting   int    // runs that are not sent yet
}

// Reader gives the spans of a run that has ended. It stops at the first error that each returns, and returns it.
type Reader func(ctx context.Context, run string, each func(*trace.Span) error) error

// Exporter sends the spans of runs. It is safe for concurrent use, and must be closed.
type Exporter struct {
	config  *Config
	read    Reader
	say     func(string)
	client  *http.Client
	runs    chan string
	closing chan struct{}
	done    chan struct{}
	cancel  context.CancelFunc
	once    sync.Once

	sent, lostSpans, lostRuns atomic.Uint64
	waiting                   atomic.Int64
	told                      bool // that the collector cannot be reached

	// Taken hears of each run whose trace the collector has taken; nil: nobody does. Set it before the first Add.
	Taken func(run string)

	pause func(context.Context, time.Duration) bool // of tests
}

// New makes an exporter. say hears once that a collector does not take spans, and once that it does again.
func New(c *Config, read Reader, say func(string)) *Exporter {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = c.TLS
	x := &Exporter{config: c, read: read, say: say, runs: make(chan string, MaxWaiting), closing: make(chan struct{}), done: make(chan struct{}), pause: pause,
		client: &http.Client{Transport: transport, Timeout: c.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}} // headers are for the collector alone
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	go x.sendAll(ctx)
	return x
}

// Add hands over a run that has ended. It never waits.
func (x *Exporter) Add(run string) {
	x.waiting.Add(1)
	select {
	case x.runs <- run:
	default:
		x.waiting.Add(-1)
		x.lostRuns.Add(1)
	}
}

// Figures returns what was sent and lost until now.
func (x *Exporter) Figures() Figures {
	return Figures{x.sent.Load(), x.lostSpans.Load(), x.lostRuns.Load(), int(x.waiting.Load())}
}

// Close sends what waits, for [CloseWithin] at most, and ends the exporter. Nothing may be added after it.
func (x *Exporter) Close() {
	x.once.Do(func() {
		close(x.closing)
		timer := time.AfterFunc(CloseWithin, x.cancel)
		defer timer.Stop()
		<-x.done
		x.cancel()
		x.client.CloseIdleConnections()
		if f := x.Figures(); f.LostRuns > 0 {
			x.say(fmt.Sprintf("the traces of %d runs were not sent to the collector", f.LostRuns))
		}
	})
}

// sendAll sends runs until the exporter is closed and none waits.
func (x *Exporter) sendAll(ctx context.Context) {
	defer close(x.done)
	for {
		select {
		case run := <-x.runs:
			x.send(ctx, run)
			continue
		default:
		}
		select {
		case run := <-x.runs:
			x.send(ctx, run)
		case <-x.closing:
			if len(x.runs) == 0 {
				return
			}
		}
	}
}

// send sends the spans of a run.
func (x *Exporter) send(ctx context.Context, run string) {
	defer x.waiting.Add(-1)
	var batch []*trace.Span
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := x.post(ctx, batch)
		batch = batch[:0]
		return err
	}
	err := x.read(ctx, run, func(s *trace.Span) error {
		if batch = append(batch, s); len(batch) < MaxSpans {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil && x.Taken != nil {
		x.Taken(run)
	}
	switch {
	case err != nil:
		x.lostRuns.Add(1)
		if !x.told {
			x.told = true
			x.say(fmt.Sprintf("the trace of run %s was not sent: %v", run, err))
		}
	case x.told:
		x.told = false
		x.say("the collector takes traces again")
	}
}

// post sends spans, and tries again where OTLP says that a request can be repeated.
func (x *Exporter) post(ctx context.Context, spans []*trace.Span) error {
	body := trace.AppendProto(nil, &x.config.Resource, spans)
	if x.config.Gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(body) // into memory
		_ = z.Close()
		body = b.Bytes()
	}
	until := time.Now().Add(MaxTry)
	for wait := time.Second; ; wait = min(2*wait, MaxWait) {
		again, after, err := x.try(ctx, body, len(spans))
		if err == nil {
			return nil
		}
		delay := max(wait/2+rand.N(wait/2), after)
		if !again || time.Now().Add(delay).After(until) || !x.pause(ctx, delay) {
			x.lostSpans.Add(uint64(len(spans)))
			return err
		}
	}
}

// try sends a request once. again says that it can be repeated, after a time at the earliest.
func (x *Exporter) try(ctx context.Context, body []byte, spans int) (again bool, after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.config.URL, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	for name, values := range x.config.Headers {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "flowrun/"+x.config.Resource.Release)
	if x.config.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := x.client.Do(r)
	if err != nil {
		return ctx.Err() == nil, 0, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // without it the status alone counts
	switch {
	case answer.StatusCode/100 == 2:
		refused := min(rejected(text), uint64(spans))
		x.sent.Add(uint64(spans) - refused)
		x.lostSpans.Add(refused)
		return false, 0, nil
	case answer.StatusCode == 429 || answer.StatusCode == 502 || answer.StatusCode == 503 || answer.StatusCode == 504:
		return true, retryAfter(answer.Header.Get("Retry-After")), fmt.Errorf("the collector answers %s", answer.Status)
	}
	return false, 0, fmt.Errorf("the collector answers %s", answer.Status)
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(text string) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return time.Duration(min(n, int(MaxTry/time.Second)+1)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return time.Until(at)
	}
	return 0
}

var errShort = errors.New("the message is not whole")

// rejected reads how many spans a collector did not take: the field rejected_spans, 1, of the field partial_success, 1, of its answer.
func rejected(answer []byte) uint64 {
	_, inner, err := field(answer, 1)
	if err != nil {
		return 0
	}
	n, _, err := field(inner, 1)
	if err != nil {
		return 0
	}
	return n
}

// field finds the last field of a number in a message of protobuf: a number, or the bytes of a message.
func field(b []byte, number uint64) (n uint64, inner []byte, err error) {
	for len(b) > 0 {
		tag, size := binary.Uvarint(b)
		if size <= 0 {
			return 0, nil, errShort
		}
		b = b[size:]
		var v uint64
		var data []byte
		switch tag & 7 {
		case 0, 2:
			if v, size = binary.Uvarint(b); size <= 0 {
				return 0, nil, errShort
			}
			if b = b[size:]; tag&7 == 2 {
				if v > uint64(len(b)) {
					return 0, nil, errShort
				}
				data, b = b[:v], b[v:]
			}
		default:
			return 0, nil, errShort
		}
		if tag>>3 == number {
			n, inner = v, data
		}
	}
	return n, inner, nil
}

// pause waits, and reports whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
