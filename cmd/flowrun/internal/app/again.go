package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/values"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/fleet"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/view"
)

// checkAgain refuses a run that cannot be repeated: a run that has not ended, or a run that another
// run called.
func (a *app) checkAgain(s *store, info engine.Info) error {
	flags := a.sceneOf(s, nil).Flags
	if !info.Status.Terminal() {
		top := s.Top(context.Background(), info)
		return &args.Error{Message: fmt.Sprintf("run %s has not ended", info.Run),
			Hint: fmt.Sprintf("To continue it: flowrun resume %s%s. To end it: flowrun cancel %s%s.", top, flags, top, flags)}
	}
	if item := s.ItemOf(context.Background(), info.Run); item != "" {
		return &args.Error{Message: item, Hint: fmt.Sprintf("The loop does the item again, in a new run, when its source lists it as open. If the item was given up: flowrun dlq redrive ID%s, see flowrun dlq list%s", flags, flags)}
	}
	if info.Parent != "" {
		return &args.Error{Message: fmt.Sprintf("run %s was called by run %s", info.Run, info.Parent),
			Hint: fmt.Sprintf("To repeat it with its caller: flowrun retry %s%s", s.Origin(context.Background(), info.Run), flags)}
	}
	return nil
}

// runAgain starts the new run and drives it.
func (a *app) runAgain(s *store, info engine.Info, r *args.Retry) error {
	if err := a.checkAgain(s, info); err != nil {
		return err
	}
	ctx := context.Background()
	again, err := a.prepareAgain(ctx, s, info.Run, r)
	if err != nil {
		return err
	}
	if !r.Changed && !r.DryRun {
		if err := checkFolder(ctx, s, info.Run); err != nil {
			return err
		}
	}
	if err := s.Reseal(ctx, info.Run, &again.First); err != nil {
		return err
	}
	held, renewed, err := a.valueReader().FindSecrets(info.Run, &again.First, again.Pinned.Program.Program, &r.Given, values.Renewal{All: true})
	if err != nil || r.DryRun {
		return err
	}
	maps.Copy(again.First.Secrets, renewed)
	for _, ref := range slices.Sorted(maps.Keys(renewed)) {
		if !r.JSON {
			a.err.Printf("%s differs from its value in run %s; this run takes the new value\n", ref, info.Run)
		}
	}
	if c := a.changed(s, info.Run); c.differs() && !r.JSON && !r.Changed {
		reuse := ""
		if c.apply != "" {
			reuse = "\nTo run it and reuse what it still asks for: flowrun retry " + info.Run + " --file"
		}
		a.err.Printf("%s: retry uses the old definition.%s%s\n", c.what, c.advice(), reuse)
	}
	if limits := again.First.Targets; len(limits) > 0 && r.Only == "" && !r.JSON {
		a.err.Printf("Run %s was limited to %s, and so is this run. To run the other steps, too: flowrun retry %s --all\n", info.Run, ui.Clean(strings.Join(limits, ", ")), info.Run)
	}
	if s.Address() != "" {
		again.First.Dir, again.First.Env = fleet.Root, nil
	}
	if err := a.sayUnheard(again, info.Run, r); err != nil {
		return err
	}
	run, err := s.Start(ctx, again.Start, held)
	if err != nil {
		return err
	}
	scene := a.sceneOf(s, s.Where(ctx, run))
	return a.writeReports(s, run, scene, nil, a.driveRun(s, run, again.Pinned.Program, view.New(again.Pinned.Workflow), scene, &r.Drive, r.JSON))
}

// sayUnheard names the waits for events that steps sent before, which the new run does not hear.
func (a *app) sayUnheard(again *runner.Again, of string, r *args.Retry) error {
	g, err := again.Pinned.Program.Graph(again.Pinned.Workflow.Name)
	if err != nil || r.JSON {
		return err
	}
	for _, u := range retry.FindUnheard(g, &again.First) {
		a.err.Printf("%s waits for a new event %q: %s sent it in run %s, and its result is reused. To send it again: flowrun emit %s. To run %s again, too: flowrun retry %s --from %s\n",
			ui.Clean(u.Wait), ui.Clean(u.Event), ui.Clean(u.Emit), of, ui.Clean(u.Event), ui.Clean(u.Emit), of, ui.Clean(u.Emit))
	}
	return nil
}

// prepareAgain returns the start of a run that repeats another one.
func (a *app) prepareAgain(ctx context.Context, s *store, run string, r *args.Retry) (*runner.Again, error) {
	p, err := s.Pinned(ctx, run)
	if err != nil {
		return nil, err
	}
	var file *program
	known := p.Workflow
	if r.Changed {
		if file, err = a.changedFile(ctx, s, run, r.File); err != nil {
			return nil, err
		}
		if w := file.ir.Workflow(known.Name); w != nil {
			known = w
		}
	}
	if err := knownStep(known, r.From); err != nil {
		return nil, err
	}
	if err := knownStep(known, r.Only); err != nil {
		return nil, err
	}
	if view.Base(r.Only) != r.Only && !strings.HasSuffix(r.Only, "]") {
		return nil, &args.Error{Message: fmt.Sprintf("--only %q is not the name of a step or of an instance", r.Only), Hint: fmt.Sprintf("Did you mean %q?", view.Base(r.Only))}
	}
	wish := retry.Wish{From: r.From, Only: r.Only, All: r.All, By: r.As}
	if len(r.Set) > 0 && r.As == "" {
		wish.By = userName()
	}
	for _, text := range r.Set {
		step, output, _ := strings.Cut(text, "=")
		if err := knownStep(known, step); err != nil {
			return nil, err
		}
		v, err := valueOf("--set "+step, output)
		if err != nil {
			return nil, err
		}
		wish.Set = append(wish.Set, retry.Set{Step: step, Output: v})
	}
	var again *runner.Again
	if r.Changed {
		again, err = a.prepareChanged(ctx, s, p, run, file, wish, r)
	} else {
		again, err = s.Retry(ctx, run, wish, a.Environ, Release)
	}
	var no *retry.Refusal
	if errors.As(err, &no) {
		return nil, &args.Error{Message: no.Message, Hint: adviseAgain(no, run)}
	}
	return again, err
}

// changedFile loads the program at path, or the one that the run began with as it is now.
func (a *app) changedFile(ctx context.Context, s *store, run, path string) (*program, error) {
	if path == "" {
		b, err := s.SourceOf(ctx, run)
		if err != nil || b.Path == "" {
			return nil, &args.Error{Message: fmt.Sprintf("run %s does not know its file", run), Hint: "Name it: --file FILE"}
		}
		path = disk.Short(b.Path)
	}
	return a.loadProgram(path)
}

// prepareChanged returns the start of a run of a changed file, and shows what it reuses.
func (a *app) prepareChanged(ctx context.Context, s *store, then *runner.Pinned, run string, file *program, wish retry.Wish, r *args.Retry) (*runner.Again, error) {
	source := file.source(then.Workflow.Name)
	again, plan, err := s.RetryChanged(ctx, run, file.ir, source.Encode(), file.dir, wish, a.Environ, Release)
	if err != nil {
		return nil, err
	}
	if len(plan.Again) == 0 && again.Header.Definition == then.Header.Definition {
		return nil, &args.Error{Message: fmt.Sprintf("%s has not changed since run %s, and no step has to run again", ui.Clean(disk.Short(file.path)), run),
			Hint: "To run a step again, and all nodes that depend on it: --from STEP"}
	}
	switch {
	case r.JSON:
		err = ui.ReuseJSON(a.out, run, disk.Short(file.path), plan)
	case r.DryRun:
		ui.Reuse(a.out, run, disk.Short(file.path), plan)
	default:
		ui.Reuse(a.err, run, disk.Short(file.path), plan)
	}
	if w := file.ir.Workflow(then.Workflow.Name); w != nil && !r.JSON {
		a.sayDefaultsAgain("variable", run, then.Program.Program.Variables, file.ir.Variables, again.First.Vars)
		a.sayDefaultsAgain("input", run, then.Workflow.Inputs, w.Inputs, again.First.Inputs)
	}
	return again, err
}

// sayDefaultsAgain names the values that the file has another default for by now: a retry keeps those of its run.
func (a *app) sayDefaultsAgain(kind, run string, then, now []ir.Variable, kept map[string]value.Value) {
	for i := range now {
		d := &now[i]
		k := slices.IndexFunc(then, func(v ir.Variable) bool { return v.Name == d.Name })
		if v, has := kept[d.Name]; has && k >= 0 && d.HasDefault && then[k].HasDefault && !d.Sensitive && !value.Equal(then[k].Default, d.Default) && !value.Equal(v, d.Default) {
			a.err.Printf("The %s %s keeps the value of run %s, not the new default of the file. A new run takes the default: flowrun apply\n", kind, ui.Clean(d.Name), run)
		}
	}
}

// adviseAgain tells the user what to type after a retry was refused.
func adviseAgain(no *retry.Refusal, run string) string {
	switch no.Advice {
	case retry.OnlyNode:
		return "To run it anyway: --only " + no.Node
	case retry.FromNode:
		return "To run a step again, and all nodes that depend on it: --from STEP"
	case retry.FromOrAnew:
		return "To run more steps again: --from STEP; all of them: flowrun apply."
	case retry.WholeRun:
		return "To run these, too: flowrun retry " + run
	case retry.Anew:
		return "To start a run of the file: flowrun apply FILE"
	case retry.Without:
		return "To see the steps of the run: flowrun runs show " + run
	case retry.JSONText:
		return fmt.Sprintf("Give the output as JSON. A text needs quotes: --set '%s=\"TEXT\"'.", no.Node)
	}
	return "Retry the failed steps with: flowrun retry " + run
}
