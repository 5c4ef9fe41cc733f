package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/simulate"
	"github.com/flowrun/flowrun/runner/standalone"
)

func (a *app) newSimulateCommand() *cobra.Command {
	o := args.Simulate{Runs: 500}
	c := &cobra.Command{
		Use: "simulate FILE|DIR [WORKFLOW]", Short: "Estimate how long runs take, how often they succeed, and what they cost", Args: a.withoutPairs,
		Long: `simulate runs a workflow many times in virtual time. Each attempt ends as an attempt of the same step in an earlier run did, drawn at
random: with its outcome, output, duration and cost. Rules, conditions, retries, slots and quotas count as in a real run. Nothing is started.
Questions for people get the answers of earlier runs, after the same time. If earlier runs have no answer to a question, the run ends as waiting.

The results are percentiles: 50 % of the runs take at most the time in the column 50 %, and 90 % of the runs the time in the column 90 %. A second table shows the effect of one more slot, and of one retry less; --parallel sets the number of slots. simulate lists the steps without an attempt in an earlier run; it assumes that they succeed, and take the median time of the other steps. Attempts fail independently of each other. If failures come together in reality, the results are too optimistic.

  flowrun simulate release.flow.hcl --parallel 16`,
		RunE: func(_ *cobra.Command, words []string) error {
			o.Path = words[0]
			if len(words) > 1 {
				o.Workflow = words[1]
			}
			a.asJSON = o.JSON
			return a.runSimulate(&o)
		},
	}
	f := c.Flags()
	valueFlags(c, &o.Given)
	f.IntVar(&o.Parallel, "parallel", 0, "at most `N` attempts at once, instead of the workflow's max_concurrency")
	f.IntVar(&o.Runs, "runs", 500, "how many runs to simulate")
	f.Uint64Var(&o.Seed, "seed", 1, "the seed of the random numbers; the same seed gives the same result")
	f.BoolVar(&o.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runSimulate(o *args.Simulate) error {
	if err := o.Check(); err != nil {
		return err
	}
	p, w, err := a.pickWorkflow(&o.Path, o.Workflow)
	if err != nil {
		return err
	}
	first, secrets, err := a.newFirstEvent(p, w, &o.Apply)
	if err != nil {
		return err
	}
	dir, err := a.storeDir(o.Path)
	if err != nil {
		return err
	}
	ctx := context.Background()
	learned := &simulate.Samples{}
	s, err := standalone.Read(dir)
	if err == nil {
		defer s.Close()
		learned, err = simulate.Learn(ctx, s, p.ir)
	} else if errors.Is(err, engine.ErrNoStore) {
		err = nil
	}
	if err != nil {
		return err
	}
	if learned.Runs == 0 {
		return &args.Error{Message: fmt.Sprintf("no run of workflow %q has ended in %s, so the simulation has no data about its steps", w.Name, ui.Clean(dir)), Hint: "Run it once: flowrun apply."}
	}
	r, err := simulate.Of(ctx, p.ir, first, secrets, learned, o.Runs, o.Seed)
	if err != nil {
		return err
	}
	if r.Changes, err = simulate.Changes(ctx, p.ir, first, secrets, learned, o.Runs, o.Seed); err != nil {
		return err
	}
	if o.JSON {
		return ui.WriteJSON(a.out, r)
	}
	a.printSimulate(r)
	return nil
}

// printSimulate prints the result for people.
func (a *app) printSimulate(r *simulate.Result) {
	a.out.Printf("%s: %d simulated runs, learned from %s\n", ui.Clean(r.Workflow), r.Runs, ui.Count(r.Learned, "earlier run"))
	a.out.Printf("%.1f%% succeed", 100*r.Success)
	if r.Waiting > 0 {
		a.out.Printf(", %.1f%% wait for a person or an event", 100*r.Waiting)
	}
	a.out.Printf("\n\n%-8s  %10s  %10s  %10s  %10s\n", "", "10%", "50%", "90%", "99%")
	row := func(name string, m simulate.Marks, text func(float64) string) {
		a.out.Printf("%-8s  %10s  %10s  %10s  %10s\n", name, text(m.P10), text(m.P50), text(m.P90), text(m.P99))
	}
	row("time", r.Seconds, simulatedTime)
	if r.CostUSD.P99 > 0 {
		row("cost", r.CostUSD, simulatedCost)
	}
	if r.Tokens.P99 > 0 {
		row("tokens", r.Tokens, func(n float64) string { return fmt.Sprintf("%.0f", n) })
	}
	if len(r.Changes) > 0 {
		a.printSimulateChanges(r)
	}
	if len(r.Unknown) > 0 {
		a.err.Printf("No earlier run has an attempt of: %s. The simulation assumes that they succeed.\n", ui.Clean(strings.Join(r.Unknown, ", ")))
	}
}

// printSimulateChanges prints what other settings would change, below what the workflow has now.
func (a *app) printSimulateChanges(r *simulate.Result) {
	rows := append([]simulate.Change{{What: "now", Success: r.Success, Seconds: r.Seconds, CostUSD: r.CostUSD}}, r.Changes...)
	a.out.Printf("\n%-24s  %8s  %10s  %10s  %10s\n", "", "succeed", "time 50%", "time 90%", "cost 50%")
	for _, c := range rows {
		a.out.Printf("%-24s  %7.1f%%  %10s  %10s  %10s\n", c.What, 100*c.Success, simulatedTime(c.Seconds.P50), simulatedTime(c.Seconds.P90), simulatedCost(c.CostUSD.P50))
	}
}

func simulatedTime(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d > time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

func simulatedCost(c float64) string { return fmt.Sprintf("$%.2f", c) }
