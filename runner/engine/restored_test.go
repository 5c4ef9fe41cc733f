package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/snapshot/snapshottest"
)

// TestRestoredAfterEveryEvent replays the journals of all constructs, patterns and releases. After every event it goes on with a machine
// that was written as bytes and read again, and the reactions are those of the journal.
func TestRestoredAfterEveryEvent(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*/*.journal")
	if err != nil {
		t.Fatal(err)
	}
	events, runs := 0, 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := decodeStored(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ir.Load(s.definition)
		if err != nil {
			t.Fatal(err)
		}
		g, err := plan.Build(p, s.header.Workflow)
		if err != nil {
			t.Fatal(err)
		}
		r := snapshottest.NewMachine(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules(), func() bool { return true })
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s, after event %d: %v", filepath.Base(name), r.Restored, p)
				}
			}()
			f := engine.NewFold(s.header, r)
			var out event.Reaction
			for _, b := range s.batches {
				if _, err := f.Replay(b, &out); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
			runs++
		}()
		events += r.Restored
	}
	t.Logf("%d runs, restored %d times", runs, events)
	if runs < 100 || events < 500 {
		t.Errorf("%d runs, restored %d times: too few to mean anything", runs, events)
	}
}
