package graph

import (
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
)

// TestStarts names routines, events and loops that start a workflow, and none that start another one.
func TestStarts(t *testing.T) {
	when := condition("event.total > 100")
	p := &ir.Program{
		Routines: []ir.Routine{{Name: "night", Cron: "0 2 * * *", Workflow: "w"}, {Name: "often", Every: time.Minute, Workflow: "w"}, {Name: "x", Every: time.Hour, Workflow: "v"}},
		Ons:      []ir.On{{Event: "order.paid", Workflow: "w", When: when}, {Event: "order.*", Workflow: "v"}},
		Loops:    []ir.Loop{{Name: "team", Sources: []ir.Source{{Rotate: []string{"v", "w"}}}, Handles: []ir.Handle{{Workflow: "v"}, {Workflow: "w"}}}},
	}
	want := []string{"routine night (0 2 * * *)", "routine often (every 1m0s)", "event order.paid when event.total > 100", "items of loop team", "loop team when it has nothing else to do"}
	if got := Starts(p, "w"); !slices.Equal(got, want) {
		t.Errorf("w is started by %q", got)
	}
	if got := Starts(p, "u"); got != nil {
		t.Errorf("u is started by %q", got)
	}
}
