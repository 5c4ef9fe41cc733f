package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// A timer of a purpose that no branch handles is an error, before anything of the run changes.
func TestUnknownTimerPurposeIsRefused(t *testing.T) {
	p := &ir.Program{Workflows: []ir.Workflow{{Name: "w", Nodes: []ir.Node{{Name: "a", Kind: ir.Step,
		Action: &ir.Wait{Duration: &ir.Expr{Kind: ir.Const, Const: "1m"}}}}}}}
	g, err := plan.Build(p, "w")
	if err != nil {
		t.Fatal(err)
	}
	m := New(g, nil, nil)
	m.root, m.run = &frame{}, &event.RunStarted{Run: "r"}
	m.newFrame(m.root)
	m.out = &event.Reaction{}
	for _, purpose := range append(event.TimerPurposes, "tea") {
		n := m.newTimer(ref{m.root, 0}, 1, purpose)
		err := m.Step(event.Event{Seq: 2, TimerFired: &event.TimerFired{Timer: n}})
		if known := purpose != "tea"; known != (err == nil) || !known && !strings.Contains(err.Error(), fmt.Sprintf(`timer %d has the unknown purpose "tea"`, n)) {
			t.Errorf("%s: %v", purpose, err)
		}
	}
}
