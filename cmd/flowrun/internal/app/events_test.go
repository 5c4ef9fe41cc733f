package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// An answer that comes twice and a timer that was overtaken, are told as what they are.
func TestEventsThatChangeNothingAreMarked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.hcl")
	if err := os.WriteFile(file, []byte("workflow \"w\" {\n  step \"a\" {\n    run     = \"true\"\n    timeout = \"1m\"\n  }\n"+
		"  step \"pause\" {\n    wait {\n      duration = \"1m\"\n    }\n  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := &app{Streams: Streams{Stdout: &out, Stderr: &out}}
	a.openTerminals()
	p, err := a.loadProgram(file)
	if err != nil {
		t.Fatal(err)
	}
	h := journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Run: "aaaaaaaaaaaa", Definition: p.ir.Hash(), Workflow: "w"}
	m, err := new(runner.Programs).Machine(h, p.ir.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	done := event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 1, Node: "a", Attempt: 1, Outcome: event.OK}}
	over := event.Event{External: &event.External{Kind: "cancel"}}
	fold, now := engine.NewFold(h, m), event.Time(1e9)
	var batches []journal.Batch
	for _, ev := range []event.Event{{RunStarted: &event.RunStarted{Run: h.Run, Workflow: "w"}}, done, done, over} {
		var r event.Reaction
		b, err := fold.Feed(now, []event.Event{ev}, &r)
		if err != nil {
			t.Fatal(err)
		}
		batches, now = append(batches, b), now+1e9
	}
	then, err := new(runner.Programs).Past(h, p.ir.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	l := &lister{a: a, run: h.Run, wanted: &args.Events{}, why: map[uint64]string{}, heard: map[uint64]bool{}}
	for _, b := range batches {
		if err := l.replayed(then, b); err != nil {
			t.Fatal(err)
		}
	}
	var marked []string
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.Contains(line, "dropped: it came late or twice") {
			marked = append(marked, strings.Fields(line)[0])
		}
	}
	if have := strings.Join(marked, " "); have != "3" {
		t.Errorf("dropped are said to be %q:\n%s", have, &out)
	}
	timer := ui.Entry{Event: event.Event{Seq: 9, TimerFired: &event.TimerFired{Timer: 4, Node: "x\x1b[2J"}}, Why: "backoff", Dropped: true}
	out.Reset()
	ui.EntryLines(a.out, &timer)
	if have := out.String(); !strings.HasSuffix(have, "timer 4 of x\\x1b[2J: backoff  dropped: what it was set for has moved on\n") {
		t.Errorf("have %q", have)
	}
}
