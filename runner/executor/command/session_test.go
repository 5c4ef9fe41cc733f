package command

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// TestSessionsAreBounded has an agent say its session again and again, and an assistant that names one that its program would take for an option.
func TestSessionsAreBounded(t *testing.T) {
	var kept []string
	x := New(Options{Session: func(_ context.Context, _ event.Attempt, session string) error {
		kept = append(kept, session)
		return nil
	}})
	t.Cleanup(x.Close)
	do(x, agent(`i=0; while [ $i -lt 100 ]; do echo '{"type":"session","id":"s'$i'"}'; i=$((i+1)); done; echo '{"type":"result","output":1}'`))
	if len(kept) != 8 || kept[7] != "s7" {
		t.Errorf("kept is %q", kept)
	}
	for _, id := range []string{"--yolo", "a b", "a\\u0000", "t1"} {
		kept = nil
		a := agent(`echo '{"type":"thread.started","thread_id":"` + id + `"}'; kill -9 $$`)
		a.Agent.OutputFormat, a.Agent.ResumeSession = ir.OutputAssistant, []string{"resume", ir.SessionID}
		f := do(x, a)
		if want := id == "t1"; slices.Contains(kept, "t1") != want || (f.Session == "t1") != want || strings.HasPrefix(f.Session, "-") || len(kept) > 1 {
			t.Errorf("%q: kept %q, session %q", id, kept, f.Session)
		}
	}
}
