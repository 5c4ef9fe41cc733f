package journal

import (
	"bytes"
	"encoding/json"

	"github.com/flowrun/flowrun/runner/event"
)

// decodeEvent reads a line. One that appendAttempt could have written is read here; any other by encoding/json, which takes five
// times as long and gives the same.
func decodeEvent(line []byte, ev *event.Event) error {
	if decodeAttempt(line, ev) {
		return nil
	}
	*ev = event.Event{}
	return json.Unmarshal(line, ev)
}

// scanner goes through a line. ok stays false once something else stands there than what is expected.
type scanner struct {
	rest []byte
	ok   bool
}

// decodeAttempt reports false for a line that is not exactly as appendAttempt writes it. What it has filled in is void then.
func decodeAttempt(line []byte, ev *event.Event) bool {
	s := scanner{line, true}
	a := &event.AttemptFinished{}
	s.expect(`{"seq":`)
	ev.Seq = uint64(s.natural())
	s.expect(`,"at":`)
	ev.At = event.Time(s.natural())
	s.expect(`,"attempt_finished":{"ticket":`)
	a.Ticket = uint64(s.natural())
	s.expect(`,"node":"`)
	a.Node = s.text()
	s.expect(`,"attempt":`)
	a.Attempt = int(s.natural())
	if s.may(`,"gate":"`) {
		a.Gate = s.text()
	}
	a.Compensate = s.may(`,"compensate":true`)
	if s.may(`,"outcome":"ok"`) { // the rule
		a.Outcome = event.OK
	} else {
		s.expect(`,"outcome":"`)
		a.Outcome = event.Outcome(s.text())
	}
	if s.may(`,"started_at":`) {
		a.StartedAt = event.Time(s.natural())
	}
	if s.may(`,"exit_code":`) {
		code := int(s.natural())
		a.ExitCode = &code
	}
	if s.may(`,"stdout":"`) {
		a.Stdout = s.text()
	}
	if s.may(`,"stderr":"`) {
		a.Stderr = s.text()
	}
	if s.may(`,"stdout_log":"`) {
		a.StdoutLog = s.text()
	}
	if s.may(`,"stderr_log":"`) {
		a.StderrLog = s.text()
	}
	if s.may(`,"output":`) {
		a.Output = s.value()
	}
	s.expect("}}\n")
	ev.AttemptFinished = a
	return s.ok && len(s.rest) == 0
}

// may takes a piece of text if it stands here.
func (s *scanner) may(text string) bool {
	if !s.ok || len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		return false
	}
	s.rest = s.rest[len(text):]
	return true
}

func (s *scanner) expect(text string) { s.ok = s.may(text) }

// maxDigits is what fits into 63 bits, whatever the digits are.
const maxDigits = 18 + 1

// natural reads a whole number from 0 on.
func (s *scanner) natural() (n int64) {
	i := 0
	for i < len(s.rest) && s.rest[i]-'0' <= 9 && i < maxDigits {
		n = n*10 + int64(s.rest[i]-'0')
		i++
	}
	if i == 0 || i > 1 && s.rest[0] == '0' || n < 0 {
		s.ok = false
		return 0
	}
	s.rest = s.rest[i:]
	return n
}

// text reads up to the quote that ends it.
func (s *scanner) text() string {
	end := bytes.IndexByte(s.rest, '"')
	if end < 0 {
		s.ok = false
		return ""
	}
	for _, c := range s.rest[:end] {
		if !plainByte(c) {
			s.ok = false
			return ""
		}
	}
	text := string(s.rest[:end])
	s.rest = s.rest[end+1:]
	return text
}

func (s *scanner) value() any {
	switch {
	case s.may("true"):
		return true
	case s.may("false"):
		return false
	case s.may(`"`):
		return s.text()
	}
	if n := s.natural(); n < maxPlain {
		return float64(n)
	}
	s.ok = false
	return nil
}
