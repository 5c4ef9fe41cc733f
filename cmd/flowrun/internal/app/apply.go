package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/trace"
	"github.com/flowrun/flowrun/runner/view"
)

func (a *app) newApplyCommand() *cobra.Command {
	var o args.Apply
	c := &cobra.Command{
		Use: "apply FILE|DIR [WORKFLOW]", Aliases: []string{"run"}, Short: "Run a workflow and print its outputs", Args: a.withoutPairs,
		Long: `apply checks a program and runs one of its workflows to the end: the workflow that you name, or the only one, or the one with
default = true. Progress goes to standard error, outputs go to standard output. Each value is read by its declared type;
@FILE reads the value from a file, - reads it from standard input. FLOWRUN_VAR_x gives variable x; --env-file overrides it,
--var-file overrides both, --var overrides all. Sensitive values are not recorded: resume reads them from the same place again.
apply also registers the parts of the program that start runs automatically: its "on" blocks, its routines and its loops. flowrun serve starts these runs and keeps
the loops running; see flowrun programs list. On a Temporal server, the workers do this.`,
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
	f.IntVar(&o.Parallel, "parallel", 0, "at most `N` attempts at once, instead of the workflow's max_concurrency")
	f.StringArrayVar(&o.Targets, "target", nil, "run only this `step` and its dependencies; can be repeated")
	f.BoolVar(&o.JSON, "json", false, "events as JSON lines on standard output")
	f.StringArrayVar(&o.Reports, "report", nil, "write a report on the run to a file, `junit=PATH`; can be repeated")
	f.BoolVar(&o.Detach, "detach", false, "hand the run to the daemon of the store (flowrun serve) or to the workers of the engine, print its id, and return")
	f.BoolVar(&o.NoFollow, "no-follow", false, "start no run for an event: events wait in the store for the next apply of the program")
	outputFlag(c, &o.Drive)
	deathLimitFlag(c, &o.Drive)
	noWaitFlag(c, &o.Drive)
	return c
}

// runApply checks a program, starts a run of it, and drives the run.
func (a *app) runApply(o *args.Apply) error {
	o.Engine = a.engine()
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
	if err := a.useEngineOf(p); err != nil {
		return err
	}
	if o.Engine = a.engine(); o.Engine != "" {
		return a.applyOnFleet(o, p, w, reports)
	}
	first, held, err := a.newFirstEvent(p, w, o)
	if err != nil {
		return err
	}
	dir, err := a.storeDir(o.Path)
	if err != nil {
		return err
	}
	if o.Detach {
		if err := needsDaemon(dir); err != nil {
			return err
		}
	}
	s, err := a.openStore(dir, o.Drive)
	if err != nil {
		return err
	}
	defer s.Close()
	follows := runner.StartsItself(p.ir) && !o.NoFollow && !isServed(dir) // the daemon starts them
	if err := a.register(s, p, first, o.JSON); err != nil {
		return err
	}
	first.Traceparent = trace.Caller(a.Environ) // of this run, and not of those that the program starts by itself
	if o.Detach {
		return a.handOver(s, p, w.Name, first, held, o.JSON)
	}
	path := p.path                             // what follows must not hold p, nor w, which is a part of it
	start, where := newStart(p, w.Name, first) // from here on the program as it was read is garbage
	run, err := s.Start(context.Background(), start, held)
	if err != nil {
		return err
	}
	pinned, err := s.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return err
	}
	start = engine.Start{}
	var f *follower
	if follows {
		f = a.follow(s, path, variablesOf(held))
	}
	scene := a.sceneOf(s, func(step string) string { return where[step] })
	err = a.driveRun(s, run, pinned, view.New(pinned.Workflow(first.Workflow)), scene, &o.Drive, o.JSON)
	return f.finish(a.writeReports(s, run, scene, reports, err), a.returnsAtRest(&o.Drive))
}
