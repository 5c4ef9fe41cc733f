package temporal_test

import (
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
				if err := temporal.Refuse(p.IR, w, &event.RunStarted{}); err == nil {
					t.Errorf("the loop %s of %s is carried", w, file)
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
	"15_instances_not_known_beforehand ship": `step "down" (emit) uses what runs of a store share`,
	"adapt adapts":                           `workflow "adapts" adapts: the figures that its rules read are those of one machine`,
	"approve release":                        `step "strict" asks for an approval: people are asked by the inbox of a store`,
	"await work":                             `step "build" escalates: people are asked by the inbox of a store`,
	"breaker calls":                          `the agent "remote" has a circuit_breaker, which runs share`,
	"breaker_notify calls":                   `the agent "remote" has a circuit_breaker, which runs share`,
	"budget_ask report":                      `the budget of workflow "report" asks people: they are asked by the inbox of a store`,
	"budget_ask work":                        `the budget of sequence "drafts" asks people: they are asked by the inbox of a store`,
	"dead_letters queue":                     `step "page" tells channels: messages are sent by a store`,
	"escalation work":                        `step "config" escalates: people are asked by the inbox of a store`,
	"events orders":                          `step "paid" waits for an event: events lie in a store`,
	"gate_benchmark measured":                `the gate "measured/close/speed" has a benchmark: its baseline lies in a store`,
	"gate_review judged":                     `the agent "critic" has a concurrency, which runs share`,
	"handoff profile":                        `step "over" (handoff) uses what runs of a store share`,
	"human label":                            `the agent "ann" is a person: people are asked by the inbox of a store`,
	"human_pool label":                       `the agent "ann" is a person: people are asked by the inbox of a store`,
	"kv count":                               `step "build" (kv) uses what runs of a store share`,
	"memory learn":                           `the agent "forgetful" has a memory, which lies in a store`,
	"notices watched":                        `the budget of workflow "watched" tells channels: messages are sent by a store`,
	"notify watch":                           `step "tell" tells channels: messages are sent by a store`,
	"on count":                               `step "one" (kv) uses what runs of a store share`,
	"on fulfil":                              `step "ship" (emit) uses what runs of a store share`,
	"on order":                               `step "placed" (emit) uses what runs of a store share`,
	"pool share":                             `the agent "ben" has a concurrency, which runs share`,
	"quota share":                            `sequence "first" takes quotas, which runs share`,
	"revise w":                               `step "ok" asks for an approval: people are asked by the inbox of a store`,
	"routine count":                          `step "one" (kv) uses what runs of a store share`,
	"spending share":                         `the agent "worker" takes quotas, which runs share`,
	"sync release":                           `step "api_ready" (sync) uses what runs of a store share`,
	"webhook listen":                         `step "heard" waits for an event: events lie in a store`,
}
