package http

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	nethttp "net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/protocol"
)

const (
	// excerptMax is how much of an answer that is a failure stands in its message, and excerptRead how much is read for it.
	excerptMax  = 500
	excerptRead = 4 << 10
	// excerptWait is how long it is waited for: the status says enough.
	excerptWait = time.Second
)

// judgeStep turns the answer to an http step into the attempt's: an object of status, headers and body, if the status is one
// of those that are expected.
func (e *exchange) judgeStep(res *response) *event.Error {
	if !e.expected(res.StatusCode) {
		return unexpected(res, excerpt(res, excerptRead))
	}
	text, err := e.whole(res)
	if err != nil {
		return err
	}
	var body value.Value = executor.Valid(text)
	if isJSON(res.Header.Get("Content-Type")) {
		if body, err = decoded(res, text); err != nil {
			return err
		}
	}
	e.answer.Outcome = event.OK
	e.answer.Output = map[string]any{"status": float64(res.StatusCode), "headers": headers(res.Header), "body": body}
	return nil
}

// whole reads a body that must fit its bound. The bound is of its own bytes, unpacked, as a program's output is measured by what
// it prints: the headers beside it have one of their own, and how long it is as JSON in the journal is not the server's matter.
func (e *exchange) whole(res *response) ([]byte, *event.Error) {
	limit := int64(limits.MaxOutput)
	if n := int64(e.attempt.HTTP.MaxBytes); n > 0 {
		limit = min(n, limit)
	}
	r, err := res.content(limit)
	if err != nil {
		return nil, e.broken(res.to, err)
	}
	text, err := io.ReadAll(r)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, tooLarge(res, limit)
	case err != nil:
		return nil, e.broken(res.to, err)
	}
	return text, nil
}

func tooLarge(res *response, limit int64) *event.Error {
	return &event.Error{Kind: event.Fatal, Reason: event.ReasonOutputTooLarge, Status: res.StatusCode, ExitCode: -1,
		Message: fmt.Sprintf("the body of the answer to %s has more than %d bytes", res.to.what(), limit)}
}

// decoded is a JSON body as a value; an empty one is null.
func decoded(res *response, text []byte) (value.Value, *event.Error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	v, err := value.Decode(text)
	if err != nil {
		return nil, &event.Error{Kind: event.Blocking, Reason: event.ReasonBadJSON, Status: res.StatusCode, ExitCode: -1,
			Message: fmt.Sprintf("the answer to %s says that it is JSON, and is not: %v", res.to.what(), err)}
	}
	return v, nil
}

// isJSON tells whether a content type is one of JSON: application/json, or any with +json.
func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json"))
}

// headers is the object of an answer's headers, by lower-case name; those that come several times are joined by ", ".
func headers(h nethttp.Header) map[string]any {
	object := make(map[string]any, len(h))
	for name, values := range h { // any order: it becomes a map
		object[executor.Valid([]byte(strings.ToLower(name)))] = executor.Valid([]byte(strings.Join(values, ", ")))
	}
	return object
}

// judgeAgent turns an agent's answer into the attempt's. An error that the agent reports comes before the status that it has,
// and the status before its result.
func (e *exchange) judgeAgent(res *response) *event.Error {
	limit := int64(limits.MaxAgentAnswer)
	if n := int64(e.attempt.HTTP.MaxBytes); n > 0 {
		limit = n
	}
	plain := e.attempt.Agent.OutputFormat == "text" // its lines are not of the protocol
	said := &protocol.Lines{Judge: e.attempt.Gate != "", Now: time.Now, Live: func(kind, text string) {
		if e.opt.Live != nil {
			e.opt.Live(*e.attempt, kind, res.mask.Text(text))
		}
	}, Note: func(n event.Learned) { executor.Note(e.ctx, n) }}
	kept := &head{}
	listeners := []io.Writer{kept}
	if !plain {
		listeners = append(listeners, lineWriter{said})
	}
	r, err := res.content(limit)
	if err == nil {
		_, err = io.Copy(io.MultiWriter(listeners...), r)
	}
	e.answer.Stdout = executor.Clip(string(kept.text), limits.MaxStream)
	var failure *event.Error
	if !plain {
		failure = said.End()
		e.answer.Learned, e.answer.Usage = said.Learned(), said.Usage()
		e.answer.Warning = said.LeftOut(e.attempt.Agent.Memory)
	}
	switch ok := e.expected(res.StatusCode); {
	case errors.Is(err, errTooLarge):
		return tooLarge(res, limit)
	case err != nil:
		e.answer.Partial = said.Partial()
		if text := kept.plainText(); plain && text != "" && !kept.over {
			e.answer.Partial = text
		}
		return e.broken(res.to, err)
	case failure != nil:
		failure.ExitCode = -1
		if !ok {
			failure.Status = res.StatusCode
			failure.RetryAfter = max(failure.RetryAfter, retryAfter(res.StatusCode, res.Header))
		}
		return failure
	case !ok:
		return unexpected(res, kept.text)
	case plain && kept.over:
		return executor.TooLarge("the agent's answer", kept.total)
	case plain:
		e.answer.Output = kept.plainText()
	default:
		if e.answer.Output, failure = said.Output(); failure != nil {
			failure.ExitCode = -1
			return failure
		}
	}
	e.answer.Outcome = event.OK
	return nil
}

type lineWriter struct{ *protocol.Lines }

func (w lineWriter) Write(p []byte) (int, error) {
	w.Lines.Write(p)
	return len(p), nil
}

// head keeps the first [limits.MaxOutput] bytes.
type head struct {
	text  []byte
	total int64
	over  bool
}

func (h *head) Write(p []byte) (int, error) {
	fits := p[:min(len(p), limits.MaxOutput-len(h.text))]
	h.text, h.total, h.over = append(h.text, fits...), h.total+int64(len(p)), h.over || len(fits) < len(p)
	return len(p), nil
}

// plainText is the answer of an agent that answers in plain text.
func (h *head) plainText() string { return strings.TrimRight(executor.Valid(h.text), "\n") }

func (e *exchange) expected(status int) bool {
	if e.attempt.HTTP.Expect == nil {
		return status >= 200 && status <= 299
	}
	return slices.Contains(e.attempt.HTTP.Expect, status)
}

// excerpt is the beginning of an answer's body, as far as it can be had.
func excerpt(res *response, most int64) []byte {
	r, err := res.content(most)
	if err != nil {
		return nil
	}
	late := time.AfterFunc(excerptWait, func() { res.Body.Close() })
	defer late.Stop()
	text, _ := io.ReadAll(r) // what there is will do
	return text
}

// unexpected is the error that a status is, with what the server said of it.
func unexpected(res *response, text []byte) *event.Error {
	failure := &event.Error{Kind: executor.StatusKind(res.StatusCode), Reason: event.ReasonHTTP, Status: res.StatusCode, ExitCode: -1,
		RetryAfter: retryAfter(res.StatusCode, res.Header)}
	failure.Message = strings.TrimSpace(fmt.Sprintf("%s: status %d %s", res.to.what(), res.StatusCode, nethttp.StatusText(res.StatusCode)))
	if said := strings.Join(strings.Fields(executor.Valid(text)), " "); said != "" {
		failure.Message += ": " + executor.Clip(said, excerptMax)
	}
	return failure
}

// retryAfter is how many seconds an answer asks to wait; 0 if it does not ask. The header Retry-After has a number of seconds or a
// date. Of an answer of status 429 the headers RateLimit-Reset and X-RateLimit-Reset count, too: a number of seconds, a Unix time, or
// a date.
func retryAfter(status int, h nethttp.Header) float64 {
	if after, known := secondsUntil(h, "Retry-After"); known || status != nethttp.StatusTooManyRequests {
		return after
	}
	for _, name := range []string{"RateLimit-Reset", "X-RateLimit-Reset"} {
		if after, known := secondsUntil(h, name); known {
			return after
		}
	}
	return 0
}

// leastUnixTime is from where on a number of seconds is a moment and not a span: 10^7 seconds are 116 days.
const leastUnixTime = 1e7

// leastUnixMillis is from where on a Unix time is in milliseconds: 10^11 seconds end in the year 5138.
const leastUnixMillis = 1e11

// secondsUntil reads how many seconds a header asks to wait, at least 0.
func secondsUntil(h nethttp.Header, name string) (after float64, known bool) {
	text := strings.TrimSpace(h.Get(name))
	now, err := nethttp.ParseTime(h.Get("Date")) // the server's own clock, if it says
	if err != nil {
		now = time.Now()
	}
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		if name == "Retry-After" || n < leastUnixTime {
			return min(float64(n), math.MaxInt32), true
		}
		at := float64(n)
		if n >= leastUnixMillis {
			at /= 1000
		}
		return min(max(0, at-float64(now.UnixMilli())/1000), math.MaxInt32), true
	}
	if at, err := nethttp.ParseTime(text); err == nil {
		return max(0, at.Sub(now).Round(time.Second).Seconds()), true
	}
	return 0, false
}
