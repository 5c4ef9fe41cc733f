package chat

import (
	"encoding/json"
	"math"
	nethttp "net/http"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
)

// complaint is an error as a provider says it.
type complaint struct {
	names   []string // its type, code, status and reason, in lower case
	code    int      // a status that stands in it; 0: none
	message string
	after   float64 // seconds that it asks to wait
}

// isError reports whether a member error of an object says something.
func isError(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// readComplaint reads an error: an object, or a text.
func readComplaint(raw []byte) (c complaint) {
	var o struct {
		Error   json.RawMessage `json:"error"`
		Type    any             `json:"type"`
		Code    any             `json:"code"`
		Status  any             `json:"status"`
		Message any             `json:"message"`
		Details []struct {
			Reason string `json:"reason"`
			Delay  string `json:"retryDelay"`
		} `json:"details"`
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return complaint{message: text}
	}
	if json.Unmarshal(raw, &o) != nil {
		o.Details = nil // the rest is read as far as it goes
	}
	if isError(o.Error) {
		return readComplaint(o.Error)
	}
	c.message, _ = o.Message.(string)
	for _, v := range []any{o.Type, o.Code, o.Status} {
		switch v := v.(type) {
		case string:
			if n, err := strconv.Atoi(v); err == nil {
				c.code = n
			} else if v != "" && v != "error" {
				c.names = append(c.names, strings.ToLower(executor.Clip(v, 100)))
			}
		case float64:
			c.code = int(v)
		}
	}
	for _, d := range o.Details {
		if d.Reason != "" {
			c.names = append(c.names, strings.ToLower(executor.Clip(d.Reason, 100)))
		}
		if s, err := time.ParseDuration(d.Delay); err == nil && s > 0 {
			c.after = s.Seconds()
		}
	}
	if m := tryAgain().FindStringSubmatch(c.message); m != nil && c.after == 0 {
		if s, err := time.ParseDuration(m[1]); err == nil {
			c.after = s.Seconds()
		}
	}
	return c
}

// tryAgain is how a message says when: "Please try again in 1m26.4s."
var tryAgain = lazyregexp.New(`(?i)try again in ((?:[0-9.]+(?:ms|h|m|s))+)`)

func (c *complaint) is(names ...string) bool {
	for _, name := range c.names {
		for _, n := range names {
			if name == n {
				return true
			}
		}
	}
	return false
}

// tooLong is how messages say that a request does not fit.
var tooLong = lazyregexp.New(`(?i)maximum context length|context length exceeded|exceeds? the (?:available )?context (?:size|window|length)|prompt is too long|input is too long|exceeds the maximum number of tokens|context_length_exceeded`)

// judge says what an error means. Status is that of the answer; 0: the error stood in a stream.
func (c *complaint) judge(status int) (kind event.ErrorKind, reason event.Reason) {
	if status == 0 || status == 200 {
		status = c.code
	}
	overloaded := status == 529 || c.is("overloaded_error", "server_overloaded", "engine_overloaded", "slow_down") ||
		(status == 503 || c.is("unavailable")) && strings.Contains(strings.ToLower(c.message), "overloaded")
	switch {
	case c.is("insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"), status == 402,
		strings.Contains(c.message, "credit balance is too low"):
		return event.Blocking, event.ReasonHTTP // waiting does not help
	case c.is("context_length_exceeded", "request_too_large"), status == 413, tooLong().MatchString(c.message) && (status == 400 || status == 0 || status == 422):
		return event.Blocking, event.ReasonContextLength
	case c.is("content_filter", "content_policy_violation", "moderation_blocked", "responsibleaipolicyviolation", "invalid_prompt"):
		return event.Blocking, event.ReasonContentFilter
	case status == 429, c.is("rate_limit_error", "rate_limit_exceeded", "rate_limit", "resource_exhausted"), overloaded:
		return event.RateLimited, event.ReasonHTTP
	case c.is("authentication_error", "permission_error", "invalid_api_key", "unauthenticated", "permission_denied", "api_key_invalid",
		"not_found_error", "model_not_found", "not_found"):
		return event.Blocking, event.ReasonHTTP
	case status >= 300:
		return executor.StatusKind(status), event.ReasonHTTP
	case c.is("invalid_request_error", "invalid_argument", "failed_precondition"):
		return event.Recoverable, event.ReasonHTTP
	}
	return event.Transient, event.ReasonHTTP
}

// failed is the error of a stream that has one in it.
func (a *answer) failed(raw []byte) *event.Error {
	c := readComplaint(raw)
	e := &event.Error{ExitCode: -1}
	e.Kind, e.Reason = c.judge(0)
	if e.Kind == event.RateLimited {
		e.RetryAfter = seconds(c.after)
	}
	text := c.message
	if text == "" {
		text = strings.Join(c.names, ", ")
	}
	if text == "" {
		text = "the provider gave no reason"
	}
	e.Message = a.what + ": the answer broke off: " + text
	return e
}

// failed is the error that an answer with a status of a failure is.
func failed(reply *http.Reply, said []byte) *event.Error {
	c := readComplaint(said)
	if c.message != "" {
		said = []byte(c.message)
	}
	e := reply.Unexpected(said)
	e.Kind, e.Reason = c.judge(reply.Status)
	after, known := resets(reply)
	if !known {
		after, known = c.after, c.after > 0
	}
	if reply.Status == nethttp.StatusServiceUnavailable && known && e.Kind == event.Transient { // it says when: it has too much to do
		e.Kind = event.RateLimited
	}
	switch e.Kind {
	case event.RateLimited:
		e.RetryAfter = seconds(after)
	case event.Recoverable, event.Blocking, event.Fatal: // it may say when, but waiting does not help
		e.RetryAfter = 0
	case event.Transient:
	}
	return e
}

// seconds keeps a span within what an error holds.
func seconds(s float64) float64 { return min(max(0, s), math.MaxInt32) }

// resets reads when a provider says that one may ask again. Retry-After and its kin count first. Of the limits that answers list, those
// count of which nothing remains, or else all; the latest moment is taken.
func resets(reply *http.Reply) (after float64, known bool) {
	h := reply.Header
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms >= 0 {
		return ms / 1000, true
	}
	if after, known = reply.RetryAfter("Retry-After"); known {
		return after, true
	}
	if f, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After")), 64); err == nil && f >= 0 {
		return f, true
	}
	for _, spent := range []bool{true, false} {
		for _, l := range []struct{ reset, remaining string }{
			{"X-Ratelimit-Reset-Requests", "X-Ratelimit-Remaining-Requests"}, {"X-Ratelimit-Reset-Tokens", "X-Ratelimit-Remaining-Tokens"},
			{"Anthropic-Ratelimit-Requests-Reset", "Anthropic-Ratelimit-Requests-Remaining"}, {"Anthropic-Ratelimit-Tokens-Reset", "Anthropic-Ratelimit-Tokens-Remaining"},
			{"Anthropic-Ratelimit-Input-Tokens-Reset", "Anthropic-Ratelimit-Input-Tokens-Remaining"},
			{"Anthropic-Ratelimit-Output-Tokens-Reset", "Anthropic-Ratelimit-Output-Tokens-Remaining"},
			{"Anthropic-Ratelimit-Unified-Reset", "Anthropic-Ratelimit-Unified-Remaining"},
			{"X-Ratelimit-Reset", "X-Ratelimit-Remaining"}, {"Ratelimit-Reset", "Ratelimit-Remaining"},
		} {
			if spent && strings.TrimSpace(h.Get(l.remaining)) != "0" {
				continue
			}
			if s, ok := until(reply, l.reset); ok {
				after, known = max(after, s), true
			}
		}
		if known {
			return after, true
		}
	}
	return 0, false
}

// until reads how long it is to a reset: a span such as 6m0s, a moment of RFC 3339, or a number or a date as in Retry-After.
func until(reply *http.Reply, name string) (float64, bool) {
	text := strings.TrimSpace(reply.Header.Get(name))
	if text == "" {
		return 0, false
	}
	if d, err := time.ParseDuration(text); err == nil {
		return max(0, d.Seconds()), true
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		now, err := nethttp.ParseTime(reply.Header.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(0, at.Sub(now).Seconds()), true
	}
	if s, ok := reply.RetryAfter(name); ok {
		return s, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && f >= 0
}
