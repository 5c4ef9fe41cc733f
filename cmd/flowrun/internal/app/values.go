package app

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/values"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/given"
)

// valueFlags are the flags that give values to a workflow.
func valueFlags(c *cobra.Command, o *args.Given) {
	pairFlags(c, "input", "an input of the workflow", &o.Inputs)
	variableFlags(c, o)
}

// variableFlags are those for values of variables alone.
func variableFlags(c *cobra.Command, o *args.Given) {
	f := c.Flags()
	pairFlags(c, "var", "a variable of the program", &o.Vars)
	f.StringArrayVar(&o.VarFiles, "var-file", nil, "a `file` of variables: name = value lines, or a JSON object; can be repeated")
	f.StringArrayVar(&o.EnvFiles, "env-file", nil, "a `file` of NAME=VALUE lines: FLOWRUN_VAR_x, or x, gives variable x; can be repeated")
}

// pairFlags are the three flags for values of one kind.
func pairFlags(c *cobra.Command, name, what string, p *args.Pairs) {
	f := c.Flags()
	f.StringArrayVar(&p.Values, name, nil, what+", `name=value`; value @FILE reads a file, - standard input, @@x is the text @x; in CI every text is taken literally; can be repeated")
	f.StringArrayVar(&p.Raw, name+"-raw", nil, what+", `name=text`: the literal text, for text from other people; can be repeated")
	f.StringArrayVar(&p.From, name+"-from", nil, what+", `name=file`: the text of the file, with - of standard input; can be repeated")
}

// valueReader reads the values of these flags.
func (a *app) valueReader() *values.Reader {
	return &values.Reader{LookupEnv: a.lookupEnv, Stdin: a.Stdin, Note: a.saySo}
}

// newFirstEvent returns the first event of a run, with everything that the run depends on besides
// its program. It also returns the secrets, which are not recorded.
func (a *app) newFirstEvent(p *program, w *ir.Workflow, o *args.Apply) (event.RunStarted, map[string]value.Value, error) {
	first := event.RunStarted{Workflow: w.Name, Dir: p.dir, Env: runner.RecordedEnv(a.Environ), Parallel: o.Parallel, Targets: o.Targets}
	if err := checkTargets(w, o.Targets); err != nil {
		return first, nil, err
	}
	if err := a.addEnvironment(p.dir, &o.Given); err != nil {
		return first, nil, err
	}
	inputs, vars, err := a.valueReader().Read(p.ir, w, &o.Given)
	if err == nil {
		err = args.IsText("the name of the program's folder", p.dir)
	}
	if err != nil {
		return first, nil, err
	}
	held, marks, problems := given.Seal(p.ir.Variables, vars, w.Inputs, inputs)
	if err := values.Join(problems); err != nil {
		return first, nil, err
	}
	first.Inputs, first.Vars, first.Secrets = inputs.Values, vars.Values, marks
	return first, held, nil
}

// checkTargets refuses steps that the workflow does not have. A node of finally is not one of them: it always runs.
func checkTargets(w *ir.Workflow, given []string) error {
	var names []string
	for n := range ir.All(w.Nodes) {
		names = append(names, n.Name)
	}
	for _, t := range given {
		if !slices.Contains(names, t) {
			return unknown(t, names, "See flowrun plan.", fmt.Sprintf("--target: workflow %q has no step %q", w.Name, t))
		}
	}
	return nil
}
