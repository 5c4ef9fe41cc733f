package local

import (
	"testing"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// An attempt was refused and then granted. The machine asks for it again and cancels it in one reaction, so that it never starts: it
// leaves the line, and the next request gets the grant.
func TestAnAttemptThatNeverStartsGivesItsGrantBack(t *testing.T) {
	e := newStore(t).open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	epoch, err := e.registerDriver()
	if err != nil {
		t.Fatal(err)
	}
	needs := []event.Need{{Kind: event.NeedAgent, Name: "dev", Units: 1, Capacity: 1}}
	x := &admitting{engine: e, run: &claimed{id: "first", epoch: epoch}, refused: map[uint64]string{1: "first", 2: "other"}}
	for _, key := range []string{"first", "next"} {
		r := admission.Request{Key: key, Run: key, Node: "n", Ticket: 1, Driver: epoch, Needs: needs}
		if _, err := x.runOperation(admission.Operation{Ask: &r}); err != nil {
			t.Fatal(err)
		}
	}
	x.withdrawUnstarted(&event.Attempt{Ticket: 3, Key: "another", Admission: &event.Admission{Needs: needs}}) // was not refused before
	if granted, err := e.grantOf("first", epoch); err != nil || granted == 0 {
		t.Fatalf("the first request is granted: %v, %v", granted, err)
	}
	x.withdrawUnstarted(&event.Attempt{Ticket: 5, Key: "first"}) // its agent was stopped when it was refused, and has no bounds
	if granted, err := e.grantOf("next", epoch); err != nil || granted == 0 || len(x.refused) != 1 {
		t.Errorf("the next request is granted: %v, %v; refused are %v", granted, err, x.refused)
	}
}
