package event

import (
	"fmt"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/limits"
)

// Object returns an error as expressions see it; nil for none. A field that does not apply is null.
func (e *Error) Object() map[string]any {
	if e == nil {
		return nil
	}
	o := map[string]any{
		"kind": string(e.Kind), "reason": string(e.Reason), "message": e.Message, "exit_code": float64(e.ExitCode), "attempt": nil,
		"status": nil, "signal": textOrNull(e.Signal), "gate": textOrNull(e.Gate), "node": textOrNull(e.Node), "retry_after": nil,
	}
	if e.Attempt != 0 {
		o["attempt"] = float64(e.Attempt)
	}
	if e.Status != 0 {
		o["status"] = float64(e.Status)
	}
	if e.RetryAfter != 0 {
		o["retry_after"] = e.RetryAfter
	}
	return o
}

// Exit is the exit code of an answer as expressions see it: -1 if it has none.
func (f *AttemptFinished) Exit() int {
	if f.ExitCode == nil {
		return -1
	}
	return *f.ExitCode
}

// Streams returns the streams of an answer as expressions see them: of a long one the head and the tail.
func (f *AttemptFinished) Streams() (stdout, stderr string) {
	return Bound(f.Stdout, limits.MaxStream), Bound(f.Stderr, limits.MaxStream)
}

// Bound keeps the head and the tail of a text and says between them how much is left out. The
// result has at most limit bytes and a mark, and never half a character.
func Bound(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:limit/2], text[len(text)-limit/2:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[flowrun: %d bytes left out]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// FailedResult returns what a failed attempt has left, as rules about failures see it.
func FailedResult(stdout, stderr string, exit int) map[string]any {
	return map[string]any{"stdout": stdout, "stderr": stderr, "exit_code": float64(exit)}
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
