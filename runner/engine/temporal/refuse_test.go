package temporal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/event"
)

// TestRefused holds what of the language this host does not carry: all workflows of the patterns and constructs, with the words of the first
// refusal. What does not stand in the table is carried.
func TestRefused(t *testing.T) {
	got := map[string]string{}
	for _, folder := range []string{"patterns", "constructs"} {
		files, err := filepath.Glob("../../../testdata/" + folder + "/*.hcl")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if dsl.IsTest(file) {
				continue
			}
			p, list := dsl.Load(os.DirFS(filepath.Dir(file)), filepath.Base(file), dsl.Options{})
			if list.HasErrors() {
				t.Fatal(list)
			}
			for i := range p.IR.Workflows {
				w := p.IR.Workflows[i].Name
				if err := temporal.Refuse(p.IR, w, &event.RunStarted{}); err != nil {
					got[strings.TrimSuffix(filepath.Base(file), ".hcl")+" "+w] = err.(*temporal.Refused).Why[0]
				}
			}
			for i := range p.IR.Loops {
				w := p.IR.Loops[i].Name
				if err := temporal.Refuse(p.IR, w, &event.RunStarted{}); err != nil {
					got[strings.TrimSuffix(filepath.Base(file), ".hcl")+" loop "+w] = err.(*temporal.Refused).Why[0]
				}
			}
		}
	}
	if d := cmp.Diff(refused, got); d != "" {
		t.Errorf("other things are refused (-table +now):\n%s", d)
	}
}

// TestSecretsAreRefused: no worker has what a command line was told. Others are looked for by the worker.
func TestSecretsAreRefused(t *testing.T) {
	p, list := dsl.Load(os.DirFS("../../../testdata/constructs"), "fail.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	for from, want := range map[string]string{"told": "var.token was given on the command line, which no worker has", "env TOKEN": "", "file /run/secrets/token": ""} {
		err := temporal.Refuse(p.IR, p.IR.Workflows[0].Name, &event.RunStarted{Secrets: map[string]event.Secret{"var.token": {From: from}}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("a run with a secret from %q: %v", from, err)
		}
	}
}

func TestParse(t *testing.T) {
	for address, want := range map[string]string{
		"temporal://127.0.0.1:7233/default": "127.0.0.1:7233 default", "temporal://[::1]:7233": "[::1]:7233 default", "temporal://t.example:1/team-a/": "t.example:1 team-a",
		"temporal://h:1/n?queue=build": "h:1 n build", "temporal://h:1?queue=build": "h:1 default build",
		"temporal://h:1/n?queue=": "", "temporal://h:1/n?queue=a&queue=b": "", "temporal://h:1/n?queues=a": "", "temporal://h:1/n?a;b": "", "temporal://:1/n": "", "temporal://h:1/n#x": "",
		"temporal://host/ns": "", "http://h:1/n": "", "temporal://h:1/a/b": "", "temporal://u:p@h:1/n": "", "": "",
	} {
		o, err := temporal.Parse(address)
		if have := strings.TrimSpace(o.HostPort + " " + o.Namespace + " " + o.Queue); have != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", address, have, err, want)
		}
	}
}

// refused has a workflow of the corpus for each thing that is refused.
var refused = map[string]string{
	"watch load":     `on "file.inbox" watches files of one machine, which the daemon of a store does: publish the event instead`,
	"watch work":     `on "file.inbox" watches files of one machine, which the daemon of a store does: publish the event instead`,
	"webhook fulfil": `on "webhook.code" takes deliveries over HTTP, which the daemon of a store does: publish the event instead`,
	"webhook listen": `on "webhook.code" takes deliveries over HTTP, which the daemon of a store does: publish the event instead`,
	"webhook work":   `on "webhook.code" takes deliveries over HTTP, which the daemon of a store does: publish the event instead`,
}

// TestAdaptIsRefused: rules that read figures of a machine are refused before the run starts, also in a workflow that is called. Others are carried.
func TestAdaptIsRefused(t *testing.T) {
	const program = `workflow "w" {
  default = true
  step "x" { call = workflow.y }
}
workflow "y" {
  sequence "all" {
    adapt {
      when            = %q
      max_concurrency = 1
    }
    step "say" { run = ["say"] }
  }
}`
	for when, refused := range map[string]bool{"metrics.cpu > 80": true, "metrics.memory > 80": true, "length(keys(metrics)) > 1": true, "metrics.tokens > 80": false} {
		err := temporal.Refuse(parse(t, fmt.Sprintf(program, when)), "w", &event.RunStarted{})
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), `sequence "all" adapts to cpu or memory, which are figures of one machine: count attempts, failures, tokens or costs`) {
			t.Errorf("a rule that reads %s: %v", when, err)
		}
	}
}
