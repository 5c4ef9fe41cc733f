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

// probes are the places of the language. A new one needs a line here.
var probes = []probe{
	{"default of a variable or an input", "top", `variable "x" { default = PROBE }`},
	{"locals", "top", `locals { x = PROBE }`},
	{"attributes of an agent", "top", "agent \"x\" {\n  type = \"exec\"\n  command = [PROBE]\n}"},
	{"a gate at the top", "top", `gate "x" { run = ["true", PROBE] }`},
	{"timeout, max_concurrency and env of a workflow", "workflow", `timeout = PROBE`},
	{"output of a workflow", "workflow", `output "x" { value = PROBE }`},
	{"when", "node", `when = "PROBE != null"`},
	{"for_each, max_concurrency", "node", `for_each = PROBE`},
	{"value, timeout, wait", "node", `timeout = PROBE`},
	{"run, task, with, env, dir", "node", `env = { X = PROBE }`},
	{"a gate inside a step", "node", `gate "x" { run = ["true", PROBE] }`},
	{"when of a retry", "node", `retry { when = "PROBE != null" }`},
}

// reads gives a name below each root.
var reads = map[string]string{
	"var": "var.v", "local": "local.l", "input": "input.i", "step": "step.first.status", "each": "each.key", "run": "run.id", "attempt": "attempt",
	"iteration": "iteration", "previous": "previous.status", "last": "last.step.first", "result": "result.status", "error": "error.kind", "feedback": "feedback",
}

const probed = `variable "v" { default = 1 }
locals {
  l = 1
}
agent "a" { type = "null" }
TOP
workflow "w" {
  input "i" { default = 1 }
  WORKFLOW
  sequence "all" {
    for_each = ["x"]
    step "first" { value = 1 }
    step "here" {
      run = ["true"]
      NODE
    }
  }
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
	source := strings.ReplaceAll(p.source, "PROBE", name)
	text := probed
	for mark, at := range map[string]string{"TOP": "top", "WORKFLOW": "workflow", "NODE": "node"} {
		with := ""
		if at == p.at {
			with = source
		}
		text = strings.Replace(text, mark+"\n", with+"\n", 1)
	}
	_, found := load(text)
	return !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return slices.Contains(hidden, d.Code) })
}

// load loads one file.
func load(text string) (*dsl.Program, diag.List) {
	return dsl.Load(fstest.MapFS{"x.hcl": {Data: []byte(text)}}, "x.hcl", dsl.Options{})
}
