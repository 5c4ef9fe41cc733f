package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/comparison"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/values"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/loop/schedule"
	"github.com/flowrun/flowrun/runner/forecast"
	"github.com/flowrun/flowrun/runner/outline"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/scripts"
	"github.com/flowrun/flowrun/runner/simulate"
	"github.com/flowrun/flowrun/runner/view/graph"
)

func (a *app) newPlanCommand() *cobra.Command {
	var o args.Plan
	c := &cobra.Command{
		Use: "plan FILE|DIR [WORKFLOW]", Short: "Show what a run would do, or what a change of files changes",
		Args: func(c *cobra.Command, words []string) error {
			if c.Flags().Changed("against") {
				return nil
			}
			return a.withoutPairs(c, words)
		},
		Long: `plan shows the order of a workflow's steps, the steps that can run at once, the longest chain, the conditional steps, and the
largest number of attempts. From the durations of earlier runs of the same workflow name it forecasts how long a run takes, and
which chain of steps takes longest. Nothing runs. plan uses the values that you give, and marks results that depend on other values
as unknown. With --lowered, plan prints the program as it runs: what each pattern (feedback) becomes.

With --against OTHER, plan compares all workflows of each program with OTHER, and shows their nodes, inputs and outputs that were added,
removed, renamed or changed, and the worst case of attempts, tokens and cost before and after. OTHER is a file or folder with the same
program, such as a checkout of another branch, or else a revision of git. Then the words are files, folders, or DIR/... for each folder
below DIR with files *.flow.hcl:

  flowrun plan ship.flow.hcl --against main
  flowrun plan ./... --against HEAD~1 --format markdown`,
		RunE: func(c *cobra.Command, words []string) error {
			if c.Flags().Changed("against") {
				if o.Paths = words; len(words) == 0 {
					o.Paths = []string{"."}
				}
				return a.runPlanAgainst(&o)
			}
			o.Path = words[0]
			if len(words) > 1 {
				o.Workflow = words[1]
			}
			a.asJSON = o.JSON
			return a.runPlan(&o)
		},
	}
	f := c.Flags()
	valueFlags(c, &o.Given)
	f.IntVar(&o.Parallel, "parallel", 0, "forecast a run of at most `N` attempts at once, instead of the workflow's max_concurrency")
	f.BoolVar(&o.JSON, "json", false, "as JSON")
	f.BoolVar(&o.Lowered, "lowered", false, "print the program in the core language: steps, groups and repeats in place of patterns")
	f.BoolVar(&o.DetailedExit, "detailed-exitcode", false, "exit with 6 if a step would run, or with --against if a workflow differs; with 0 if not")
	f.StringVar(&o.Against, "against", "", "compare with the same programs in `OTHER`: a file, a folder, or a revision of git")
	f.StringVar(&o.Format, "format", "", "with --against, the `FORM` of the comparison: text, json or markdown")
	return c
}

func (a *app) runPlan(o *args.Plan) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.Lowered {
		return a.planLowered(o)
	}
	p, w, err := a.pickWorkflow(&o.Path, o.Workflow)
	if err != nil {
		return err
	}
	if err := a.addEnvironment(p.dir, &o.Given); err != nil {
		return err
	}
	known, err := a.valueReader().Beforehand(p.ir, w, &o.Given)
	if err != nil {
		return err
	}
	g, err := plan.Build(p.ir, w.Name)
	if err != nil {
		return err
	}
	result := &ui.Planned{Outline: outline.Of(g, known.Eval), Scripts: scripts.Of(p.ir, w), Routines: planRoutines(p.ir, w.Name, time.Now()), Starts: graph.Starts(&ir.Program{Ons: p.ir.Ons, Loops: p.ir.Loops}, w.Name)}
	if err := a.useEngineOf(p); err != nil {
		return err
	}
	result.Engine = a.fileEngine
	if err = a.planFromStore(o, p, g, known, result); err != nil {
		return err
	}
	result.Attempts = result.Worst.Attempts // with gates, compensations and budgets
	if o.JSON {
		err = ui.WriteJSON(a.out, result)
	} else {
		ui.Plan(a.out, result)
	}
	if err == nil && o.DetailedExit && len(result.Steps) > 0 {
		return &ended{exitChange}
	}
	return err
}

// plannedMoments is how many moments of a routine a plan shows.
const plannedMoments = 3

// planRoutines are the routines that start a workflow.
func planRoutines(p *ir.Program, workflow string, now time.Time) []ui.PlannedRoutine {
	list := []ui.PlannedRoutine{}
	for i := range p.Routines {
		r := &p.Routines[i]
		if r.Workflow != workflow {
			continue
		}
		shown := ui.PlannedRoutine{Name: r.Name, Schedule: "every " + r.Every.String(), Next: []string{}}
		s, err := schedule.Of(r.Cron, r.Every, r.Timezone)
		if shown.Schedule = cmp.Or(r.Cron, shown.Schedule); r.Cron != "" && !strings.Contains(r.Cron, "TZ=") {
			shown.Schedule += " in " + s.Zone().String()
		}
		if err == nil && !r.Paused {
			shown.Next = serve.Moments(s, now, plannedMoments)
		}
		list = append(list, shown)
	}
	return list
}

// planLowered prints the program without patterns. The text is a program, and its runs are those of the program.
func (a *app) planLowered(o *args.Plan) error {
	p, _, err := a.pickWorkflow(&o.Path, o.Workflow)
	if err != nil {
		return err
	}
	_, err = a.out.Write(p.lowered())
	return err
}

// planFromStore adds what earlier runs of the store say: how long a run takes, and what it costs at most. A store of an older release
// counts as no store.
func (a *app) planFromStore(o *args.Plan, p *program, g *plan.Graph, known *values.Beforehand, to *ui.Planned) error {
	s, err := a.readStore(o.Path)
	if err != nil {
		return err
	}
	if s == nil {
		to.Forecast, to.Worst = &forecast.Forecast{}, outline.WorstOf(g, known.Eval, nil, o.Parallel)
		return nil
	}
	defer s.Close()
	x, runs, err := s.Expected(context.Background(), g.Workflow.Name)
	if err != nil {
		return err
	}
	used, err := s.Used()
	if err != nil {
		return err
	}
	to.Forecast, to.Worst = forecast.Of(g, known.Eval, x, runs, o.Parallel), outline.WorstOf(g, known.Eval, used, o.Parallel)
	to.Simulated, err = a.planSimulated(o, p, g.Workflow, s)
	return err
}

// planRuns is how many runs a plan simulates, and maxPlanNodes the largest workflow of which it does: that takes a tenth of a second.
const (
	planRuns     = 100
	maxPlanNodes = 100
)

// planSimulated simulates runs; nil where that takes long, or where an input or the past of a step is not known.
func (a *app) planSimulated(o *args.Plan, p *program, w *ir.Workflow, s *store) (*simulate.Result, error) {
	if len(w.StepNames()) > maxPlanNodes || o.Given.ReadsInput() {
		return nil, nil
	}
	ctx := context.Background()
	learned, err := simulate.Learn(ctx, s, p.ir)
	if err != nil || learned.Runs == 0 {
		return nil, err
	}
	first, secrets, err := a.newFirstEvent(p, w, &o.Apply)
	if err != nil {
		return nil, nil // a plan needs no inputs
	}
	r, err := simulate.Of(ctx, p.ir, first, secrets, learned, planRuns, 1)
	if err != nil || len(r.Unknown) > 0 {
		return nil, err
	}
	return r, nil
}

// runPlanAgainst compares programs with other definitions of them.
func (a *app) runPlanAgainst(o *args.Plan) error {
	if err := o.CheckAgainst(); err != nil {
		return err
	}
	if slices.Contains(o.Paths, "") {
		return emptyPath()
	}
	a.asJSON = o.Format == "json"
	c := comparison.Comparison{Paths: o.Paths, Against: o.Against, Options: dsl.Options{Version: Release, Limits: a.limits}, Used: a.planUsed,
		Known: func(p *ir.Program, w *ir.Workflow) (outline.Values, error) {
			known, err := a.valueReader().Beforehand(p, w, &args.Given{})
			if err != nil {
				return nil, err
			}
			return known.Eval, nil
		}}
	result, err := c.Compare()
	if err != nil {
		return err
	}
	switch o.Format {
	case "json":
		if err := ui.WriteJSON(a.out, result); err != nil {
			return err
		}
	case "markdown":
		a.out.Raw([]byte(result.Markdown(ui.MaxSummaryBytes)))
	default:
		result.Text(a.out)
	}
	switch {
	case result.Refused() > 0:
		return &ended{exitNo}
	case o.DetailedExit && result.Differs():
		return &ended{exitChange}
	}
	return nil
}

// planUsed is the most that one attempt of each agent has used, by the runs of the store of a path.
func (a *app) planUsed(path string) (outline.Used, error) {
	s, err := a.readStore(path)
	if err != nil || s == nil {
		return nil, err
	}
	defer s.Close()
	return s.Used()
}
