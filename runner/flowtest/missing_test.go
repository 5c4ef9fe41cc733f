package flowtest_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/flowtest"
)

// The checker takes the block that a failure prints for a step without a stub, and the block answers that step, also where several
// workflows have a step of the name.
func TestPastedBlocks(t *testing.T) {
	const program = `
on "a" { workflow = workflow.first }
on "b" { workflow = workflow.second }
workflow "first" {
  step "same" {
    run = ["x"]
    gate "fine" { run = ["check"] }
    compensate { run = ["undo"] }
  }
  sequence "group" {
    depends_on = [step.same]
    step "inside" { run = ["x"] }
  }
  step "last" {
    depends_on = [step.group]
    call = workflow.third
  }
}
workflow "second" {
  step "same" {
    run = ["x"]
    gate "fine" { run = ["check"] }
  }
}
workflow "third" {
  step "deep" {
    for_each = ["k", "l"]
    run      = ["x"]
  }
}
loop "work" {
  agents = [agent.sam]
  source "dispatch" {}
  handle { workflow = workflow.second }
}
agent "sam" {
  type    = "exec"
  command = ["sam"]
}
`
	for _, c := range []struct{ name, inside string }{
		{"one workflow", "workflow = workflow.first"},
		{"two runs of one workflow", "start \"one\" { workflow = workflow.second }\nstart \"two\" { workflow = workflow.second }"},
		{"two workflows", "start \"one\" { workflow = workflow.first }\nstart \"two\" { workflow = workflow.second }"},
		{"events", "emit \"a\" {}\nemit \"b\" {}"},
		{"a run and an event", "workflow = workflow.second\nemit \"a\" {}\nrun_for = \"1h\""},
		{"a loop and an event", "loop = loop.work\nrun_for = \"1h\"\ndispatch \"work\" { title = \"t\" }\nemit \"b\" {}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pasted := ""
			for range 12 {
				files := fstest.MapFS{"w.flow.hcl": {Data: []byte(program)}, "w.flowtest.hcl": {Data: []byte(test(c.inside + "\nexpect = [\"true\"]" + pasted))}}
				loaded, list := dsl.LoadTests(files, "w.flowtest.hcl", dsl.Options{})
				if list.HasErrors() {
					t.Fatalf("%s\n%v", pasted, list)
				}
				r := flowtest.Run(context.Background(), flowtest.NewProgram(loaded.IR), &loaded.Tests[0])
				missing := false
				for _, f := range r.Failures {
					if f.Block != "" {
						pasted, missing = pasted+"\n"+f.Block, true
					} else if f.Kind != flowtest.Unasked {
						t.Errorf("%+v", f)
					}
				}
				if !missing {
					if pasted == "" {
						t.Error("no step ran without a stub")
					}
					return
				}
			}
			t.Errorf("the blocks answer nothing:%s", pasted)
		})
	}
}
