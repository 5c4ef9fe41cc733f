package serve

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestResume asks the daemon to drive a run whose secret the daemon does not have.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	maker, _ := openTestStore(t, dir)
	p, list := dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(`
variable "word" {
  type      = string
  sensitive = true
}
workflow "secretive" {
  step "a" {
    run = "true"
    env = { WORD = var.word }
  }
}
`)}}, "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	run, err := maker.Start(t.Context(), engine.Start{Definition: definition, Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "secretive"},
		First: event.RunStarted{Workflow: "secretive", Dir: t.TempDir(), Secrets: map[string]event.Secret{"var.word": {From: "env FLOWRUN_NOT_THERE"}}}}, nil)
	if err == nil {
		err = maker.Close() // as if its process had ended
	}
	if err != nil {
		t.Fatal(err)
	}
	s, _ := openTestStore(t, dir)
	_, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	for range 2 { // the second time the daemon has been refused before
		if status, text := c.ask("POST", "/api/v1/runs/"+run+"/resume", "{}"); status != 409 || !strings.Contains(string(text), "FLOWRUN_NOT_THERE") {
			t.Fatalf("a run without its secret is answered %d %s", status, text)
		}
	}
	if _, text := c.ask("GET", "/api/v1/runs/"+run, ""); !strings.Contains(string(text), `"reason":"The daemon cannot drive this run`) {
		t.Errorf("the run does not say why nobody drives it: %s", text)
	}
	if status, text := c.ask("POST", "/api/v1/runs/none/resume", "{}"); status != 404 {
		t.Errorf("a run that does not exist is answered %d %s", status, text)
	}
}
