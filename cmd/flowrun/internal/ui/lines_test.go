package ui

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/runner/event"
)

// A run that moves fast is not written line by line; what stands alone, a failure and the end are there at once.
func TestLinesAreWrittenTogether(t *testing.T) {
	s := newStage(shipWorkflow, 80, 24, func(t *Term, s Scene) Progress { return NewLines(t, s) })
	show := func(after time.Duration, tr event.Transition) {
		tr.At = t0.Add(after)
		s.p.Update(s.run, s.run.Apply(nil, &event.Reaction{Transitions: []event.Transition{tr}}), false)
	}
	written := func(what string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(s.out.String(), w) {
				t.Errorf("%s: %q is not written: %q", what, w, s.out)
			}
		}
		if len(want) == 0 && s.out.Len() > 0 {
			t.Errorf("%s: %q is written", what, s.out)
		}
		s.out.Reset()
	}
	show(0, event.Transition{Node: "design", To: event.Running})
	written("the first", "design: running")
	show(HeldTime-1, event.Transition{Node: "design", To: event.Succeeded})
	written("soon after it")
	s.tick(HeldTime)
	written("a tick", "design: succeeded")
	show(HeldTime, event.Transition{Node: "a", To: event.Running})
	written("what comes HeldTime after the last", "a: running")
	show(HeldTime, event.Transition{Node: "b", To: event.Running})
	show(HeldTime, event.Transition{Node: "a", To: event.FailedS, Result: &event.Result{ExitCode: 1}})
	written("a failure", "b: running\n", "a: failed")
	show(HeldTime, event.Transition{Node: "b", To: event.Succeeded})
	s.p.Say("a word")
	written("a word", "b: succeeded\na word\n")
	show(HeldTime, event.Transition{Node: "c", To: event.Running})
	s.p.Close(t0.Go())
	written("the end of it", "c: running")
	for range HeldBytes / 8 {
		show(HeldTime, event.Transition{Node: "c", To: event.Waiting})
	}
	if n := s.out.Len(); n < HeldBytes/2 {
		t.Errorf("of more than %d bytes %d are written", HeldBytes, n)
	}
}

// TestWayOut writes what acts on a terminal through each way out of a program.
func TestWayOut(t *testing.T) {
	const acts = "a\x1b]0;evil\a\x1b[2J\u009b31m\x9b\u202e\u2066\u200f\u200b\ufeff\U000e0041z\x7f"
	for _, live := range []bool{false, true} {
		var b bytes.Buffer
		term := NewTerm(&b, "never", func(string) string { return "" })
		term.Live = live
		term.Printf("%s\n", acts)
		term.Raw([]byte(acts))
		if err := WriteJSON(term, map[string]string{acts: acts}); err != nil {
			t.Fatal(err)
		}
		said := b.String()
		if !live { // a pipe gets what programs said as they said it
			if strings.Count(said, acts) != 1 {
				t.Errorf("raw text goes out as %q", said)
			}
			said = strings.Replace(said, acts, "", 1)
		}
		for _, c := range []string{"\x1b]", "\x1b[2J", "\a", "\u009b", "\x9b", "\u202e", "\u2066", "\u200f", "\u200b", "\ufeff", "\U000e0041", "\x7f"} {
			if strings.Contains(said, c) && !(c == "\x9b" && utf8.ValidString(said)) {
				t.Errorf("live %v: %q gets out: %q", live, c, said)
			}
		}
		if !live && strings.Contains(said, "\x1b") {
			t.Errorf("an escape gets out: %q", said)
		}
		var back map[string]string
		lines := strings.Split(strings.TrimSpace(said), "\n")
		last := lines[len(lines)-1]
		if err := json.Unmarshal([]byte(last[strings.Index(last, "{\""):]), &back); err != nil || len(back) != 1 {
			t.Errorf("%v: %q", err, last)
		}
	}
	if p := []byte("plain ✓ text\n"); &guard(p, false)[0] != &p[0] {
		t.Error("plain text is copied")
	}
}

// The header of a diagnostic has two styles at once: they reach the terminal, and not as escapes.
func TestStylesOfDiagnosticsReachTheTerminal(t *testing.T) {
	var b bytes.Buffer
	term := NewTerm(&b, "always", func(string) string { return "" })
	term.Live = true
	Diagnostics(term, diag.List{{Code: "F0302", Summary: "Unknown step", Severity: diag.Error}}, nil)
	if said := b.String(); !strings.Contains(said, "\x1b[1;31mError:\x1b[0m") || strings.Contains(said, `\x1b`) {
		t.Errorf("the header is %q", said)
	}
}
