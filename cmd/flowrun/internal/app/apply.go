package app

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/values"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/given"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/view"
)

func (a *app) newApplyCommand() *cobra.Command {
	var o args.Apply
	c := &cobra.Command{
		Use: "apply FILE|DIR [WORKFLOW]", Short: "Run a workflow and print its outputs", Args: between(1, 2, "FILE|DIR [WORKFLOW]"),
		Long: `apply checks a program and runs one of its workflows to the end: the one that is named, or the only one, or the one with
default = true. Progress goes to standard error, outputs to standard output. Values are given by their declared types;
@FILE reads a value from a file, - from standard input. FLOWRUN_VAR_x gives variable x; --env-file overrides it, --var-file both,
--var all. What is sensitive is not recorded: resume takes it from the same place again.`,
		RunE: func(_ *cobra.Command, words []string) error {
			o.Path = words[0]
			if len(words) > 1 {
				o.Workflow = words[1]
			}
			a.asJSON = o.JSON
			return a.runApply(&o)
		},
	}
	f := c.Flags()
	valueFlags(c, &o.Given)
	f.IntVar(&o.Parallel, "parallel", 0, "at most `N` attempts at once, in place of the workflow's max_concurrency")
	f.StringArrayVar(&o.Targets, "target", nil, "run only this `step` and all that it needs; can be repeated")
	f.BoolVar(&o.JSON, "json", false, "events as JSON lines on standard output")
	f.StringArrayVar(&o.Reports, "report", nil, "write a report on the run to a file, `junit=PATH`; can be repeated")
	deathLimitFlag(c, &o.Drive)
	return c
}

// valueFlags are the flags that give values to a workflow.
func valueFlags(c *cobra.Command, o *args.Given) {
	f := c.Flags()
	pairFlags(c, "input", "an input of the workflow", &o.Inputs)
	pairFlags(c, "var", "a variable of the program", &o.Vars)
	f.StringArrayVar(&o.VarFiles, "var-file", nil, "a `file` of variables: name = value lines, or a JSON object; can be repeated")
	f.StringArrayVar(&o.EnvFiles, "env-file", nil, "a `file` of NAME=VALUE lines: FLOWRUN_VAR_x, or x, gives variable x; can be repeated")
}

// valueReader reads the values of these flags.
func (a *app) valueReader() *values.Reader {
	return &values.Reader{LookupEnv: a.lookupEnv, Stdin: a.Stdin, Note: a.saySo}
}

// pairFlags are the three flags for values of one kind.
func pairFlags(c *cobra.Command, name, what string, p *args.Pairs) {
	f := c.Flags()
	f.StringArrayVar(&p.Values, name, nil, what+", `name=value`; value @FILE reads a file, - standard input, @@x is the text @x, but in CI every text is taken as it is; can be repeated")
	f.StringArrayVar(&p.Raw, name+"-raw", nil, what+", `name=text`: the text as it is, for texts that somebody else has chosen; can be repeated")
	f.StringArrayVar(&p.From, name+"-from", nil, what+", `name=file`: what the file holds, or with - standard input; can be repeated")
}

// runApply checks a program, starts a run of it, and drives the run.
func (a *app) runApply(o *args.Apply) error {
	if err := o.Check(); err != nil {
		return err
	}
	reports, err := o.Forms(ui.ReportForms)
	if err != nil {
		return err
	}
	process.CollectWithin(a.getenv)
	p, w, err := a.pickWorkflow(&o.Path, o.Workflow)
	if err != nil {
		return err
	}
	first, held, err := a.newFirstEvent(p, w, o)
	if err != nil {
		return err
	}
	dir, err := a.storeDir(o.Path)
	if err != nil {
		return err
	}
	s, err := a.openStore(dir, o.Drive)
	if err != nil {
		return err
	}
	defer s.Close()
	start, where := p.start(w.Name, first) // from here on the program as it was read is garbage
	run, err := s.Start(context.Background(), start, held)
	if err != nil {
		return err
	}
	pinned, err := s.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return err
	}
	start = engine.Start{}
	scene := a.sceneOf(s, func(step string) string { return where[step] })
	err = a.driveRun(s, run, view.New(pinned.Workflow(first.Workflow)), scene, o.JSON)
	return a.writeReports(s, run, scene, reports, err)
}

// start is a run in the engine's form, with the positions of its steps.
func (p *program) start(workflow string, first event.RunStarted) (engine.Start, map[string]string) {
	b, definition := p.source(workflow), p.ir.Canonical()
	return engine.Start{
		Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: workflow, Release: Release},
		First:  first, Definition: definition, Source: b.Encode(),
	}, b.Where
}

// pickWorkflow loads the program that a user named, and picks the workflow. If the path is the name
// of a workflow, the path becomes the current folder.
func (a *app) pickWorkflow(path *string, workflow string) (*program, *ir.Workflow, error) {
	if *path == "" {
		return nil, nil, emptyPath()
	}
	*path, workflow = a.asWorkflow(*path, workflow)
	p, err := a.loadProgram(*path)
	if err != nil {
		return nil, nil, err
	}
	w, err := p.workflow(workflow)
	return p, w, err
}

// asWorkflow takes a workflow of the current folder in place of a file, if there is no such file.
func (a *app) asWorkflow(path, workflow string) (string, string) {
	if _, err := os.Stat(path); err == nil || workflow != "" {
		return path, workflow
	}
	if p, list := a.readProgram("."); !list.HasErrors() && p.IR.Workflow(path) != nil {
		return ".", path
	}
	return path, workflow
}

// newFirstEvent returns the first event of a run, with everything that the run depends on besides
// its program. It also returns the secrets, which are not recorded.
func (a *app) newFirstEvent(p *program, w *ir.Workflow, o *args.Apply) (event.RunStarted, map[string]value.Value, error) {
	first := event.RunStarted{Workflow: w.Name, Dir: p.dir, Env: runner.RecordedEnv(a.Environ), Parallel: o.Parallel, Targets: o.Targets}
	if err := checkApplyTargets(w, o.Targets); err != nil {
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

// checkApplyTargets refuses steps that the workflow does not have. A node of finally is not one of them: it always runs.
func checkApplyTargets(w *ir.Workflow, given []string) error {
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
