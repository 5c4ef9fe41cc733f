package runner

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/view"
)

// TestEventsThatChangeNothingAreMarked has an answer that comes twice.
func TestEventsThatChangeNothingAreMarked(t *testing.T) {
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte("workflow \"w\" {\n  step \"a\" {\n    run     = \"true\"\n    timeout = \"1m\"\n  }\n" +
		"  step \"pause\" {\n    wait {\n      duration = \"1m\"\n    }\n  }\n}\n")}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	h := journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Run: "aaaaaaaaaaaa", Definition: p.IR.Hash(), Workflow: "w"}
	m, err := new(Programs).Machine(h, p.IR.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	done := event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 1, Node: "a", Attempt: 1, Outcome: event.OK}}
	over := event.Event{External: &event.External{Kind: "cancel"}}
	fold, now := engine.NewFold(h, m), event.Time(1e9)
	then, err := new(Programs).Past(h, p.IR.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	var all, dropped []uint64
	l := newLister(h.Run, func(e *view.Entry) {
		if all = append(all, e.Event.Seq); e.Dropped {
			dropped = append(dropped, e.Event.Seq)
		}
	})
	for _, ev := range []event.Event{{RunStarted: &event.RunStarted{Run: h.Run, Workflow: "w"}}, done, done, over} {
		var r event.Reaction
		b, err := fold.Feed(now, []event.Event{ev}, &r)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.addBatch(then, b); err != nil {
			t.Fatal(err)
		}
		now += 1e9
	}
	if !slices.Equal(all, []uint64{1, 2, 3, 4}) || !slices.Equal(dropped, []uint64{3}) {
		t.Errorf("of the events %v, %v are marked as dropped", all, dropped)
	}
}
