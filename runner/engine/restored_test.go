package engine_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/snapshot"
	"github.com/flowrun/flowrun/runner/snapshot/snapshottest"
)

var restoredEvents = flag.Int("restored.events", 10_000, "how many events the long run has that is restored")

// storedJournals calls do for every journal of the corpus.
func storedJournals(t *testing.T, do func(name string, s *stored, g *plan.Graph)) {
	t.Helper()
	files, err := filepath.Glob(corpus + "/*/*.journal")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d journals: %v", len(files), err)
	}
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
		do(filepath.Base(name), s, g)
	}
}

// TestRestoredAfterEveryEvent replays the journals of all constructs, patterns and releases. After every event it goes on with a machine
// that was written as bytes and read again, and the reactions are those of the journal.
func TestRestoredAfterEveryEvent(t *testing.T) {
	events := 0
	storedJournals(t, func(name string, s *stored, g *plan.Graph) {
		m := snapshottest.NewMachine(g, expr.NewEvaluator(ir.RulesOf(s.header.Behaviour)), ir.RulesOf(s.header.Behaviour), func() bool { return true })
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s, after event %d: %v", name, m.Restored, p)
			}
			events += m.Restored
		}()
		f := engine.NewFold(s.header, m)
		var out event.Reaction
		for _, b := range s.batches {
			if _, err := f.Replay(b, &out); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
		}
	})
	if t.Logf("restored %d times", events); events < 500 {
		t.Error("too few to mean anything")
	}
}

// restoreFold makes a fold of its bytes.
func restoreFold(h journal.Header, g *plan.Graph, state []byte) (*engine.Fold, error) {
	return engine.RestoreFold(h, state, func(state []byte) (engine.Machine, error) {
		return machine.Restore(g, expr.NewEvaluator(ir.RulesOf(h.Behaviour)), ir.RulesOf(h.Behaviour), state)
	})
}

// TestRestoredFold goes on after every batch with a fold that was written as bytes and read again. Bytes of another run, of another program,
// or with a change are refused, and a fold does not go on with another journal.
func TestRestoredFold(t *testing.T) {
	batches := 0
	storedJournals(t, func(name string, s *stored, g *plan.Graph) {
		f := engine.NewFold(s.header, machine.New(g, expr.NewEvaluator(ir.RulesOf(s.header.Behaviour)), ir.RulesOf(s.header.Behaviour)))
		var out event.Reaction
		for i, b := range s.batches {
			if _, err := f.Replay(b, &out); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			state, err := f.State()
			if err != nil {
				t.Fatal(err)
			}
			other, err := restoreFold(s.header, g, state)
			if err != nil {
				t.Fatalf("%s, batch %d: %v", name, i, err)
			}
			derived := map[string]bool{"Fold.header": true, "digest.buf": true, "digest.h": true, "Fold.machine": true, "Fold.seen": true} // the test above compares machines, and equal bytes have equal hashes
			if err := snapshottest.Same(f, other, derived); err != nil {
				t.Fatalf("%s, batch %d: %v", name, i, err)
			}
			if again, err := other.State(); err != nil || !bytes.Equal(state, again) {
				t.Fatalf("%s, batch %d: other bytes (%v)", name, i, err)
			}
			h := s.header
			h.Run += "x"
			if _, err := restoreFold(h, g, state); !errors.Is(err, snapshot.ErrBroken) {
				t.Fatalf("%s: as another run: %v", name, err)
			}
			state[len(state)/2] ^= 1
			if _, err := restoreFold(s.header, g, state); !errors.Is(err, snapshot.ErrBroken) {
				t.Fatalf("%s: with a bit changed: %v", name, err)
			}
			if i > 0 {
				if _, err := other.Replay(s.batches[0], &out); !errors.Is(err, journal.ErrBroken) {
					t.Fatalf("%s: goes on with another batch: %v", name, err)
				}
			}
			f = other
			batches++
		}
	})
	if batches < 200 {
		t.Errorf("%d batches are too few to mean anything", batches)
	}
}

// TestLongRunIsRestored compares the replay of a long run with its restore, and the bytes of short and long runs:
//
//	go test ./runner/engine -run TestLongRunIsRestored -restored.events=1000000 -v
func TestLongRunIsRestored(t *testing.T) {
	small := restoreLong(t, *restoredEvents/10)
	large := restoreLong(t, *restoredEvents)
	if large > 20*small {
		t.Errorf("%d bytes for %d events, and %d for a tenth of them: it grows faster than the run", large, *restoredEvents, small)
	}
}

// restoreLong replays a run and restores it. It returns how many bytes its state has.
func restoreLong(t *testing.T, events int) int {
	t.Helper()
	g, h := longRun(t, events)
	fresh := func() *engine.Fold {
		return engine.NewFold(h, machine.New(g, expr.NewEvaluator(ir.RulesOf(h.Behaviour)), ir.RulesOf(h.Behaviour)))
	}
	f := fresh()
	var journaled []journal.Batch
	var out event.Reaction
	now := event.Time(time.Hour)
	queue := []event.Event{{RunStarted: &event.RunStarted{Run: h.Run, Workflow: "w", Dir: "/"}}}
	for len(queue) > 0 && f.End() == nil && int(f.Seq()) < events {
		now++
		b, err := f.Feed(now, queue, &out)
		if err != nil {
			t.Fatal(err)
		}
		journaled = append(journaled, b)
		queue = append([]event.Event(nil), queue[b.Count:]...)
		for _, c := range out.Commands {
			if a := c.Start; a != nil {
				queue = append(queue, event.Event{AttemptFinished: &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK, StartedAt: now, Output: float64(a.Ticket)}})
			}
		}
	}
	if f.End() != nil || int(f.Seq()) < events/2 {
		t.Fatalf("%d events, and it ends %+v", f.Seq(), f.End())
	}
	runtime.GC()
	begun := time.Now()
	f = fresh()
	for _, b := range journaled {
		if _, err := f.Replay(b, &out); err != nil {
			t.Fatal(err)
		}
	}
	replay := time.Since(begun)
	begun = time.Now()
	state, err := f.State()
	if err != nil {
		t.Fatal(err)
	}
	write := time.Since(begun)
	runtime.GC()
	begun = time.Now()
	other, err := restoreFold(h, g, state)
	if err != nil {
		t.Fatal(err)
	}
	read := time.Since(begun)
	more := queue[:1:1]
	x, err := f.Feed(now+1, more, &out)
	if err != nil {
		t.Fatal(err)
	}
	if y, err := other.Feed(now+1, more, &out); err != nil || x.Digest != y.Digest || x.Link != y.Link {
		t.Errorf("restored, it goes on otherwise (%v)", err)
	}
	t.Logf("%d events: replayed in %s; %d bytes, written in %s, restored in %s", f.Seq(), replay, len(state), write, read)
	return len(state)
}

// longRun is a for_each in a few places, which has not ended after so many events.
func longRun(t *testing.T, events int) (*plan.Graph, journal.Header) {
	t.Helper()
	src := ""
	const most = 100_000
	for i := 0; i*most <= events+100; i++ {
		src += fmt.Sprintf("  step \"s%d\" {\n    for_each = range(%d)\n    agent = agent.null\n    with = each.value\n  }\n", i, min(most, events+100))
	}
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte("agent \"null\" {\n  type = \"null\"\n}\n\nworkflow \"w\" {\n" + src + "}\n")}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	g, err := plan.Build(p.IR, "w")
	if err != nil {
		t.Fatal(err)
	}
	return g, journal.Header{Format: journal.Format, Run: "long", Workflow: "w"}
}
