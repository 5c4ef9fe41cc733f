package journal

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/flowrun/flowrun/runner/event"
)

// appendEvent writes an event as a line of JSON: as encoding/json does, byte for byte, which does the work where a line has more
// than plain texts. Nearly all events of a long run are ends of attempts, and most of these are plain.
func appendEvent(dst []byte, ev event.Event) ([]byte, error) {
	if a := ev.AttemptFinished; a != nil && onlyAttempt(&ev) {
		if line, ok := appendAttempt(dst, &ev, a); ok {
			return line, nil
		}
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(ev); err != nil {
		return dst, err
	}
	return append(dst, buf.Bytes()...), nil // with the newline
}

func onlyAttempt(ev *event.Event) bool {
	return ev.RunStarted == nil && ev.TimerFired == nil && ev.External == nil && ev.ChildFinished == nil && ev.DriverChanged == nil
}

// appendAttempt reports false where a text or a value is not plain, or there is an error, a refusal, a usage, a session or something of the memory to be told.
func appendAttempt(dst []byte, ev *event.Event, a *event.AttemptFinished) ([]byte, bool) {
	if a.Error != nil || a.Recalled != nil || a.Learned != nil || a.Warning != "" || a.Usage != nil || a.Partial != nil || a.Session != "" || a.Artifact != nil || a.Resource != "" || !plain(a.Node) || !plain(a.Gate) || !plain(string(a.Outcome)) || !plain(a.Stdout) || !plain(a.Stderr) ||
		!plain(a.StdoutLog) || !plain(a.StderrLog) || !plainValue(a.Output) {
		return dst, false
	}
	dst = strconv.AppendUint(append(dst, `{"seq":`...), ev.Seq, 10)
	dst = strconv.AppendInt(append(dst, `,"at":`...), int64(ev.At), 10)
	dst = strconv.AppendUint(append(dst, `,"attempt_finished":{"ticket":`...), a.Ticket, 10)
	dst = append(append(append(dst, `,"node":"`...), a.Node...), '"')
	dst = strconv.AppendInt(append(dst, `,"attempt":`...), int64(a.Attempt), 10)
	dst = appendText(dst, `,"gate":"`, a.Gate)
	if a.Compensate {
		dst = append(dst, `,"compensate":true`...)
	}
	dst = append(append(append(dst, `,"outcome":"`...), a.Outcome...), '"')
	if a.StartedAt != 0 {
		dst = strconv.AppendInt(append(dst, `,"started_at":`...), int64(a.StartedAt), 10)
	}
	if a.ExitCode != nil {
		dst = strconv.AppendInt(append(dst, `,"exit_code":`...), int64(*a.ExitCode), 10)
	}
	dst = appendText(dst, `,"stdout":"`, a.Stdout)
	dst = appendText(dst, `,"stderr":"`, a.Stderr)
	dst = appendText(dst, `,"stdout_log":"`, a.StdoutLog)
	dst = appendText(dst, `,"stderr_log":"`, a.StderrLog)
	if a.Output != nil {
		dst = appendValue(append(dst, `,"output":`...), a.Output)
	}
	return append(dst, "}}\n"...), true
}

func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return append(append(append(dst, name...), text...), '"')
}

// maxPlain is below what a whole number may be in a float64, and has no more digits than a decoder need check for overflow.
const maxPlain = 1e15

// plainValue tells whether appendValue can write a value.
func plainValue(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case string:
		return plain(v)
	case float64:
		return v > -maxPlain && v < maxPlain && v == float64(int64(v)) && (v != 0 || 1/v > 0)
	}
	return false
}

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return append(append(append(dst, '"'), v...), '"')
	case float64:
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return append(dst, "null"...)
}

// plain tells whether a text stands in JSON as it is.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if !plainByte(s[i]) {
			return false
		}
	}
	return true
}

func plainByte(c byte) bool { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' }
