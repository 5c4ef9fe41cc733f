package protocol

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// status is how a message names the status of an HTTP answer: "unexpected status 401 Unauthorized", "last status: 429 Too Many Requests".
var status = lazyregexp.New(`\bstatus:? ([45])(\d\d)\b`)

// words are how assistants and providers say in lower case what is wrong, where they name no status. The first that a message holds counts.
var words = []struct {
	text string
	kind event.ErrorKind
}{
	{"credit balance is too low", event.Blocking}, {"invalid api key", event.Blocking}, {"api key not valid", event.Blocking}, {"run /login", event.Blocking},
	{"rate limit", event.RateLimited}, {"usage limit", event.RateLimited}, {"hit your limit", event.RateLimited}, {"hit your session limit", event.RateLimited},
	{"hit your weekly limit", event.RateLimited}, {"quota exceeded", event.RateLimited}, {"exhausted your", event.RateLimited}, {"overloaded", event.RateLimited},
	{"high demand", event.Transient},
}

// KindOf is the kind of an error whose message may name the status of an HTTP answer.
func KindOf(message string) event.ErrorKind {
	if m := status().FindStringSubmatch(message); m != nil {
		n, _ := strconv.Atoi(m[1] + m[2])
		if kind := executor.StatusKind(n); kind != event.Recoverable {
			return kind
		}
		return event.Blocking
	}
	said := strings.ToLower(message)
	for _, w := range words {
		if strings.Contains(said, w.text) {
			return w.kind
		}
	}
	return event.Recoverable
}

// reported is the error that an assistant reports: in words, and with the status of the HTTP answer behind it, if it gives that. The moment of
// a limit stands in the words.
func (l *Lines) reported(message any, status float64) *event.Error {
	if text, ok := message.(string); ok {
		message = inner(text)
	}
	e := readFailure(nil, map[string]any{"message": message})
	e.Kind = KindOf(e.Message)
	switch n := int(status); {
	case n == 402:
		e.Kind = event.Blocking
	case n == 529: // the provider is overloaded
		e.Kind = event.RateLimited
	case n >= 400 && (n != 400 || e.Kind == event.Recoverable):
		e.Kind = executor.StatusKind(n)
	}
	if e.Kind == event.RateLimited && l.Now != nil {
		e.RetryAfter = l.wait(e.Message)
	}
	return e
}

// inner is the message in an error of a provider that stands in a message as JSON.
func inner(text string) string {
	var o struct {
		Error struct{ Message string }
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &o) == nil && o.Error.Message != "" {
		return o.Error.Message
	}
	return text
}

var (
	// span is how a message says after what time: "try again in 1m26.4s", "Please retry in 3s", "will reset after 2 hours 3 minutes".
	span = lazyregexp.New(`(?i)\b(?:again|retry|resets?) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:milliseconds?|minutes?|mins?|ms|m|seconds?|secs?|s|hours?|hrs?|h|days?|d)(?:,? and |, | )?)+)`)
	part = lazyregexp.New(`(?i)(\d+(?:\.\d+)?) ?(milli|ms|m|s|h|d)`)
	// unix is a moment in seconds since 1970: "Claude AI usage limit reached|1769846400".
	unix = lazyregexp.New(`limit reached\|(\d{10})\b`)
	// clock is a moment by the clock: "try again at 8:55 PM", "try again at Oct 9th, 2026 3:04 PM", "resets 3pm (Europe/Berlin)".
	clock = lazyregexp.New(`(?i)\b(?:again|resets?) (?:at )?(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?,? (?:at )?)?(\d{1,2})(?::(\d\d))? ?([ap])m\b(?: \(([a-z_+-]+(?:/[a-z_+-]+)*)\))?`)
)

// wait is for how many seconds a message asks to wait; 0 if it does not say.
func (l *Lines) wait(message string) float64 {
	now := l.Now()
	if m := span().FindStringSubmatch(message); m != nil {
		sum := time.Duration(0)
		for _, p := range part().FindAllStringSubmatch(m[1], -1) {
			f, _ := strconv.ParseFloat(p[1], 64)
			sum += time.Duration(f * float64(map[string]time.Duration{"milli": time.Millisecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute,
				"h": time.Hour, "d": 24 * time.Hour}[strings.ToLower(p[2])]))
		}
		return max(0, sum.Seconds())
	}
	if m := unix().FindStringSubmatch(message); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		return max(0, time.Unix(n, 0).Sub(now).Seconds())
	}
	if m := clock().FindStringSubmatch(message); m != nil {
		if at, ok := l.next(m, now); ok {
			return at.Sub(now).Seconds()
		}
	}
	return 0
}

// next is the next moment that a clock shows. It names a minute, and the moment can be at the end of that.
func (l *Lines) next(m []string, now time.Time) (at time.Time, ok bool) {
	if m[7] != "" {
		if l.Zone == nil {
			return at, false
		}
		zone, err := l.Zone(m[7])
		if err != nil {
			return at, false
		}
		now = now.In(zone)
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	hour, minute := number(m[4])%12, number(m[5])
	if number(m[4]) > 12 || minute > 59 {
		return at, false
	}
	if strings.EqualFold(m[6], "p") {
		hour += 12
	}
	year, month, day := now.Date()
	if m[1] != "" {
		named, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:]))
		if err != nil {
			return at, false
		}
		if month, day = named.Month(), number(m[2]); m[3] != "" {
			year = number(m[3])
		}
	}
	at = time.Date(year, month, day, hour, minute+1, 0, 0, now.Location())
	switch {
	case at.After(now):
	case m[1] == "":
		at = at.AddDate(0, 0, 1)
	case m[3] == "":
		at = at.AddDate(1, 0, 0)
	}
	return at, at.After(now)
}
