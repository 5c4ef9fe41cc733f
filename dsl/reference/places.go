package reference

import (
	"slices"
	"strings"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
)

// Place says which names an expression can read where it stands.
type Place struct {
	Place string   `json:"place"`
	Reads []string `json:"reads"` // roots of names
}

// probe is a place, and the part of a program around it; PROBE stands where the expression does.
type probe struct{ place, at, source string }

// probes are the places of the language. A new one needs a line here; a test says when one is not a place any more.
var probes = []probe{
	{"default of a variable or an input", "top", `variable "x" { default = PROBE }`},
	{"locals", "top", `locals { x = PROBE }`},
	{"attributes of an agent", "top", "agent \"x\" {\n  type = \"exec\"\n  command = [PROBE]\n}"},
	{"a gate at the top", "top", `gate "x" { run = ["true", PROBE] }`},
	{"timeout, max_concurrency, budget and env of a workflow", "workflow", `timeout = PROBE`},
	{"output of a workflow", "workflow", `output "x" { value = PROBE }`},
	{"nodes of finally", "workflow", "finally {\n  step \"x\" { run = [\"true\", PROBE] }\n}"},
	{"for_each, max_concurrency, budget", "node", `for_each = PROBE`},
	{"when", "node", `when = "PROBE != null"`},
	{"require, priority, deadline", "node", "require {\n  condition = \"PROBE != null\"\n  message = \"x\"\n}"},
	{"value, timeout, wait", "node", `timeout = PROBE`},
	{"match of a wait for an event", "group", "step \"z\" {\n  wait {\n    event = \"e\"\n    match = \"PROBE != null\"\n  }\n}"},
	{"run, task, with, env, dir", "node", `env = { X = PROBE }`},
	{"a gate inside a step", "node", "gate \"x\" { run = [\"true\", PROBE] }"},
	{"when of a retry", "node", `retry { when = "PROBE != null" }`},
	{"when of a retry of a workflow", "workflow", `retry { when = "PROBE != null" }`},
	{"when of a retry of an agent", "top", "agent \"x\" {\n  type = \"null\"\n  retry { when = \"PROBE != null\" }\n}"},
	{"when of a classify", "node", "classify {\n  when = \"PROBE != null\"\n  kind = \"fatal\"\n}"},
	{"when of a classify of a workflow", "workflow", "classify {\n  when = \"PROBE != null\"\n  kind = \"fatal\"\n}"},
	{"when of a classify of an agent", "top", "agent \"x\" {\n  type = \"null\"\n  classify {\n    when = \"PROBE != null\"\n    kind = \"fatal\"\n  }\n}"},
	{"when of a rule of an escalation", "top", "escalation \"x\" {\n  rule {\n    when = \"PROBE != null\"\n    level = \"y\"\n  }\n  level \"y\" {}\n}"},
	{"with and reassign of a level of an escalation", "top", "escalation \"x\" {\n  level \"y\" {\n    workflow = workflow.mend\n    with = { x = PROBE }\n  }\n}\nworkflow \"mend\" {\n  input \"x\" { default = 1 }\n  step \"mend\" { value = input.x }\n}"},
	{"require of a workflow", "workflow", "require {\n  condition = \"PROBE != null\"\n  message = \"x\"\n}"},
	{"group of concurrency", "workflow", "concurrency { group = \"${jsonencode(PROBE)}\" }"},
	{"when of a case", "group", "switch \"y\" {\n  case {\n    when = \"PROBE != null\"\n    step \"z\" { value = 1 }\n  }\n}"},
	{"value and winner of a group", "group", `value = [PROBE]`},
	{"degrade", "node", `degrade { output = PROBE }`},
	{"compensate", "node", `compensate { run = ["true", PROBE] }`},
	{"until of a repeat", "node", "repeat {\n  until = \"PROBE != null\"\n  max = 2\n}"},
	{"when and until of adapt", "group", "adapt {\n  when = \"PROBE != null\"\n  max_concurrency = 2\n}"},
	{"max_concurrency and with of adapt", "group", "adapt {\n  when = \"metrics.cpu > 80\"\n  max_concurrency = length([PROBE])\n}"},
	{"for and cooldown of adapt", "group", "adapt {\n  when = \"metrics.cpu > 80\"\n  for = \"${jsonencode(PROBE)}\"\n  max_concurrency = 2\n}"},
	{"join", "group", `join = "PROBE != null"`},
	{"when of a handle of a loop", "top", "agent \"x\" { type = \"null\" }\nloop \"y\" {\n  agents = [agent.x]\n  source \"dispatch\" {}\n  handle {\n    when = \"PROBE != null\"\n    workflow = workflow.does\n  }\n}\nworkflow \"does\" {\n  step \"s\" { value = 1 }\n}"},
	{"with of a handle, and of a source of improvements", "top", "agent \"x\" { type = \"null\" }\nloop \"y\" {\n  agents = [agent.x]\n  source \"dispatch\" {}\n  handle {\n    workflow = workflow.does\n    with = { x = PROBE }\n  }\n}\nworkflow \"does\" {\n  input \"x\" { default = 1 }\n  step \"s\" { value = input.x }\n}"},
	{"settings of a loop", "top", "agent \"x\" { type = \"null\" }\nloop \"y\" {\n  agents = [agent.x]\n  idle = \"${jsonencode(PROBE)}\"\n  source \"dispatch\" {}\n  handle { workflow = workflow.does }\n}\nworkflow \"does\" {\n  step \"s\" { value = 1 }\n}"},
}

// reads gives a name below each root.
var reads = map[string]string{
	"var": "var.v", "local": "local.l", "input": "input.i", "step": "step.first.status", "each": "each.key", "run": "run.id", "attempt": "attempt",
	"iteration": "iteration", "previous": "previous.status", "last": "last.step.first", "result": "result.exit_code", "error": "error.kind", "feedback": "feedback", "recalled": "recalled.count", "event": "event", "elapsed": "elapsed", "healed": "healed", "metrics": "metrics.cpu", "now": "now", "item": "item.id", "worker": "worker",
}

// probed is a program in which every name that depends on what stands around has something around it.
const probed = `variable "v" { default = 1 }
locals {
  l = 1
}
gate "again" {
  check   = "true"
  on_fail = "retry"
}
TOP
workflow "w" {
  input "i" { default = 1 }
  WORKFLOW
  sequence "all" {
    for_each = ["x"]
    GROUP
    sequence "rounds" {
      repeat { max = 2 }
      step "first" { value = 1 }
      step "here" {
        run   = ["true"]
        escalate = escalation.help
        gates = [gate.again]
        NODE
      }
    }
  }
}
escalation "help" {
  level "heal" { workflow = workflow.heal }
}
workflow "heal" {
  step "heal" { value = 1 }
}
`

// hidden are the codes that say that a name cannot be read here.
var hidden = []string{"F0301", "F0304"}

// places asks the checker itself: it tries every root in every place.
func places() (out []Place) {
	for _, p := range probes {
		row := Place{p.place, []string{}}
		for _, root := range schema.Roots {
			if name := reads[root]; name != "" && readable(p, name) {
				row.Reads = append(row.Reads, root)
			}
		}
		out = append(out, row)
	}
	return out
}

func readable(p probe, name string) bool {
	_, found := load(p.program(name))
	return !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return slices.Contains(hidden, d.Code) })
}

// program is the whole program with an expression in the place.
func (p probe) program(expression string) string { return fill(probed, p, expression) }

// fill puts an expression in a place into the text of a program.
func fill(text string, p probe, expression string) string {
	for _, mark := range []string{"TOP", "WORKFLOW", "GROUP", "NODE"} {
		with := ""
		if strings.ToLower(mark) == p.at {
			with = strings.ReplaceAll(p.source, "PROBE", expression)
		}
		text = strings.Replace(text, mark+"\n", with+"\n", 1)
	}
	return text
}

// load loads one file.
func load(text string) (*dsl.Program, diag.List) {
	return dsl.Load(fstest.MapFS{"x.hcl": {Data: []byte(text)}}, "x.hcl", dsl.Options{})
}
