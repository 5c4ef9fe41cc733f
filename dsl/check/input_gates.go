package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
)

// inputGates checks the gates of an input: the machine asks them before anything starts, so they start nothing themselves.
func (c *checker) inputGates(in *Decl) {
	a := in.attr("gates")
	if a == nil {
		return
	}
	refuse := func(r diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0155", Subject: r, Context: in.Words(), Summary: summary, Detail: detail})
	}
	if in.sensitive() {
		refuse(a.Src.Range, fmt.Sprintf("Gates of the sensitive %s", in.Words()), "A gate may quote the value in its message. Judge the output of a step that uses the value.")
	}
	known, seen := a.Names[:0], map[string]bool{}
	for _, r := range a.Names {
		g := c.gates[r.Name]
		switch {
		case g == nil:
			c.unknownDeclared(in.Block, r, "gate", c.gates)
			continue
		case seen[r.Name]:
			c.report(diag.Diagnostic{Code: "F0219", Subject: r.Range, Context: in.Words(), Summary: fmt.Sprintf("gates names %q twice", r.Name), Detail: "It would judge the same value twice. Remove one of the two."})
			continue
		}
		for _, by := range []string{"run", "review", "benchmark"} {
			if judgesBy(g, by) != nil {
				refuse(r.Range, fmt.Sprintf("Gate %q cannot judge an input", r.Name),
					fmt.Sprintf("A gate with %s starts a program or an agent, and inputs are judged before anything starts. Let the first step return the value ( value = input.%s ), and give that step the gate.", by, in.Name))
			}
		}
		known, seen[r.Name] = append(known, r), true
	}
	a.Names = known
}

// judgesInputs checks the gates of the inputs for what they judge.
func (c *checker) judgesInputs(w *Workflow) {
	for _, in := range w.Inputs {
		if a := in.attr("gates"); a != nil {
			for _, r := range a.Names {
				c.judges(c.gates[r.Name], &Node{Block: in.Block, output: in.read()}, r.Range)
			}
		}
	}
}
