package protocol

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// What is put aside has the same bound: an object over many lines.
func TestAgentRestBound(t *testing.T) {
	for extra, fits := range map[int]bool{0: true, 1: false} {
		l := &Lines{}
		text := append([]byte("{\n"), strings.Repeat(" ", limits.MaxOutput-3+extra)+"}"...)
		l.Write(text[:5])
		l.Write(text[5:])
		l.End()
		if _, err := l.Output(); (err == nil) != fits {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

// A text that looks like many beginnings of objects costs no more than reading it a few times.
func TestScanBound(t *testing.T) {
	for _, line := range []string{"{\"a\":[\n", "{\n", "{\"status\":[\n1,\n", "{\"status\":1}\n", "{\"status\":1} x\n"} {
		text := strings.Repeat(line, limits.MaxOutput/len(line)) + `"status"}`
		began := time.Now()
		if _, _, found := OnStderr(text); found || time.Since(began) > 60*time.Second { // an idle machine needs 0.1 s
			t.Errorf("%q: %v after %v", line, found, time.Since(began))
		}
	}
}

// Whatever comes in whatever pieces, the listener keeps its bounds and gives an answer or an error.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"type":"result","output":1}`), 3)
	f.Add([]byte("junk\n{\"type\":\"error\",\"retry_after\":1e400}\n{}\n"), 1)
	f.Add([]byte(`{"status":"failed","error":{"message":[1]}}`), 100)
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		piece = max(1, piece)
		whole, parts := &Lines{Live: func(string, string) {}}, &Lines{Live: func(string, string) {}}
		whole.Write(text)
		for rest := text; len(rest) > 0; {
			k := min(piece, len(rest))
			parts.Write(rest[:k])
			rest = rest[k:]
		}
		whole.End()
		parts.End()
		v, err := whole.Output()
		w, err2 := parts.Output()
		if !value.Equal(v, w) || (err == nil) != (err2 == nil) || whole.finals != parts.finals {
			t.Fatalf("pieces of %d bytes give another answer: %v %v, %v %v", piece, v, err, w, err2)
		}
	})
}
