package event

import (
	"bytes"
	"testing"
)

// reaction has something of everything that a digest covers.
func reaction(words string, fact Reason) Reaction {
	e := &Error{Kind: Transient, Reason: fact, Message: words, ExitCode: 1}
	return Reaction{
		Commands: []Command{
			{Start: &Attempt{Ticket: 1, Node: "a", Attempt: 1, Argv: []string{"true"}}},
			{Cancel: &CancelAttempt{Ticket: 1, Node: "a", Reason: words}},
			{End: &End{Status: FailedS, Error: e}},
		},
		Transitions: []Transition{
			{Node: "a", From: Pending, To: Running, Reason: words},
			{Node: "a", Gate: &Verdict{Gate: "g", Message: words}},
			{Node: "a", From: Running, To: FailedS, Result: &Result{Error: e}},
		},
	}
}

func TestDigestCoversFactsAndNoWords(t *testing.T) {
	a, b, c := reaction("one way to put it", "exit"), reaction("another", "exit"), reaction("another", "signal")
	if !bytes.Equal(a.AppendTo(nil), b.AppendTo(nil)) {
		t.Error("other words for the same change the digest")
	}
	if bytes.Equal(b.AppendTo(nil), c.AppendTo(nil)) {
		t.Error("another reason leaves the digest as it is")
	}
	if a.Transitions[1].Gate.Message == "" || a.Commands[2].End.Error.Message == "" {
		t.Error("making a digest took the words away")
	}
}

func TestDigestCoversComputedOutputs(t *testing.T) {
	bytesOf := func(output any, computed bool) string {
		r := Reaction{Transitions: []Transition{{Node: "v", To: Succeeded, Result: &Result{Output: output, Computed: computed}}}}
		return string(r.AppendTo(nil))
	}
	if bytesOf(1.0, true) == bytesOf(2.0, true) {
		t.Error("two computed outputs have one digest")
	}
	if bytesOf("x", false) != bytesOf("y", false) {
		t.Error("an output that an event brought is digested again")
	}
}
