package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
)

const fileProgram = `
on "file.inbox" {
  workflow = workflow.work
  paths    = ["in/*.csv"%s]
  debounce = "50ms"
  with     = { id = "${event.change} ${event.path} ${event.size}" }
}

workflow "work" {
  input "id" { type = string }
  step "a" { value = input.id }
  output "id" { value = step.a.output }
}
`

// watchIn registers the program that watches files of a folder.
func watchIn(t *testing.T, s *standalone.Store, folder, more string) {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(fmt.Sprintf(fileProgram, more))}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	start := engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition)}, Definition: definition,
		First: event.RunStarted{Dir: folder}}
	if _, err := s.Register(context.Background(), "/files.hcl", &start); err != nil {
		t.Fatal(err)
	}
}

// TestFilesAreWatched creates, changes and removes files while a daemon runs, and while none does: each state that settles starts one run.
func TestFilesAreWatched(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func() *standalone.Store {
		s, err := standalone.Open(dir, standalone.Options{AnyRoom: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write("in/old.csv", "old")
	s := open()
	watchIn(t, s, folder, "")
	write("in/early.csv", "12") // after the registration, before a daemon runs
	_, _, stop := serving(t, s, ServerOptions{})
	outputs(t, s, 1)
	write("in/other.txt", "no")
	write("in/new.csv", "1")
	outputs(t, s, 2)
	write("in/old.csv", "older")
	if err := os.Remove(filepath.Join(folder, "in/early.csv")); err != nil {
		t.Fatal(err)
	}
	outputs(t, s, 4)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	write("in/new.csv", "1234")
	write("in/down.csv", "12345")
	write("else/x.csv", "x")
	s = open()
	d := New(Options{Store: s})
	if err := d.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := d.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	// Files that the program watches from now on are not news.
	watchIn(t, s, folder, `, "else/*"`)
	write("else/y.csv", "y")
	if err := d.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"created in/early.csv 2": 1, "created in/new.csv 1": 1, "changed in/old.csv 5": 1, "removed in/early.csv 0": 1, "changed in/new.csv 4": 1,
		"created in/down.csv 5": 1, "created else/y.csv 1": 1}
	if got := outputs(t, s, len(want)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the runs are %v, want %v", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
