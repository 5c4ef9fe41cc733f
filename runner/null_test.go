package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/journal"
)

// What a null agent gives back is masked as the output of any other: also if the secret was put together of values that
// are none, or stands in the program.
func TestNullAgentsAreMasked(t *testing.T) {
	const canary = "canary-secret-1"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "flow.hcl"), []byte(`
variable "token" {
  type      = string
  sensitive = true
}

agent "null" { type = "null" }

workflow "w" {
  step "literal" {
    agent = agent.null
    with  = { text = "the canary-secret-1" }
  }
  step "pieced" {
    agent = agent.null
    with  = { text = join("-", ["canary", "secret", "1"]) }
  }
  step "read" {
    agent = agent.null
    with  = { text = var.token }
  }
  step "plain" {
    agent = agent.null
    with  = { text = "in the open" }
  }
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(os.DirFS(dir), "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	registry := executor.Registry{}
	registry.Register(executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		f, _ := engine.AnswerNull(&a, 1)
		return f
	}), event.NullAgentAttempt)
	service := runner.New(runner.Options{Store: dir, Executors: registry})
	host, err := local.Open(filepath.Join(dir, "store"), local.Options{Factory: service.Machine, Executor: service, Group: service.Group, Watch: service.Observe})
	if err != nil {
		t.Fatal(err)
	}
	service.Attach(host)
	defer service.Close()
	definition := p.IR.Canonical()
	run, err := service.Start(t.Context(), engine.Start{
		Header:     journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: "w"},
		Definition: definition,
		First:      event.RunStarted{Workflow: "w", Dir: dir, Secrets: map[string]event.Secret{"var.token": secret.Seal("given", "00", canary)}},
	}, map[string]value.Value{"var.token": canary})
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{}
	end, err := service.Drive(t.Context(), run, func(events []event.Event, _ *event.Reaction, _ bool) {
		for _, e := range events {
			if f := e.AttemptFinished; f != nil {
				outputs[f.Node] = value.Text(f.Output)
			}
		}
	})
	if err != nil || end.Status != event.Succeeded {
		t.Fatalf("the run ends %s: %v", end.Status, err)
	}
	if _, err := service.Batches(t.Context(), run, func(b journal.Batch) error {
		if strings.Contains(string(b.Body), canary) {
			t.Errorf("the secret is in the journal: %s", b.Body)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(outputs) != 4 || !strings.Contains(outputs["plain"], "in the open") {
		t.Errorf("the outputs are %v", outputs)
	}
}
