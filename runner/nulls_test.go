package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestMissingMemberOfEvent has an event start a run whose input reads a member that the event lacks. The member is null, and null is a value: the input is
// null, and its default is for an input that is not given. An input of a type that has no null makes the event a dead letter. The run begins with the same
// inputs on a Temporal server, whose workers start it by the same code.
func TestMissingMemberOfEvent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "flow.hcl"), []byte(`
on "built" {
  workflow = workflow.w
  with     = { agent = event.agent }
}
on "built" {
  workflow = workflow.typed
  with     = { n = event.n }
}
workflow "typed" {
  input "n" {
    type    = number
    default = 7
  }
  step "s" { value = input.n }
}
workflow "w" {
  default = true
  input "agent" { default = "claude" }
  input "other" { default = "unset" }
  step "s" { value = "x" }
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(os.DirFS(dir), "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	service := runner.New(runner.Options{Store: dir})
	host, err := local.Open(filepath.Join(dir, "store"), local.Options{Factory: service.Machine, Executor: service, Group: service.Group, Events: service.Events, Watch: service.Observe})
	if err != nil {
		t.Fatal(err)
	}
	service.Attach(host)
	defer service.Close()
	definition := p.IR.Canonical()
	start := engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition)}, Definition: definition, First: event.RunStarted{Dir: dir}}
	if _, err := service.Register(t.Context(), filepath.Join(dir, "flow.hcl"), &start); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Ask(t.Context(), event.StoreRequest{Emit: &event.EmitRequest{Name: "built", Data: map[string]any{"x": 1.0}}}); err != nil {
		t.Fatal(err)
	}
	started, _, err := service.StartDue(t.Context(), "", nil)
	if err != nil || len(started) != 1 {
		t.Fatalf("%d runs start (%v)", len(started), err)
	}
	registered, err := service.Registered(t.Context())
	if err != nil || len(registered) != 1 {
		t.Fatalf("%d programs are registered (%v)", len(registered), err)
	}
	for _, on := range registered[0].On {
		if dead := on.Workflow == "typed"; on.Dead != map[bool]int{true: 1}[dead] {
			t.Errorf("of the events that start %s, %d are dead letters", on.Workflow, on.Dead)
		}
	}
	want := map[string]value.Value{"agent": nil, "other": "unset"}
	check := func(where string, inputs map[string]value.Value) {
		for name, v := range want {
			if got, given := inputs[name]; !given || !value.Equal(got, v) {
				t.Errorf("%s: the input %s is %v (%v), want %v", where, name, got, given, v)
			}
		}
	}
	var first *event.RunStarted
	if _, err := service.Drive(t.Context(), started[0].Run, func(events []event.Event, _ *event.Reaction, _ bool) {
		for _, e := range events {
			if e.RunStarted != nil {
				first = e.RunStarted
			}
		}
	}); err != nil || first == nil {
		t.Fatalf("the run has no beginning (%v)", err)
	}
	check("in a store", first.Inputs)
	s, err := wire.NewStart(engine.Start{First: *first})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := wire.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	var got wire.Start
	if err := wire.Decode(sent, &got); err != nil {
		t.Fatal(err)
	}
	there, err := got.Engine()
	if err != nil {
		t.Fatal(err)
	}
	check("on a Temporal server", there.First.Inputs)
}
