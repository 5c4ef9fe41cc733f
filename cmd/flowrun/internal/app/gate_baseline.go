package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newGateBaselineCommand() *cobra.Command {
	accept, asJSON := "", false
	c := &cobra.Command{
		Use: "baseline [NAME]", Short: "Show the baselines of benchmarks, or accept the figure of a run as one", Args: between(0, 1, "[NAME]"),
		Long: `baseline shows the baseline of the benchmarks with this NAME, or all baselines. The first figure of a name becomes its baseline. Only --accept changes a baseline: it takes the last figure that RUN measured under this name.

  flowrun gate baseline parser --accept latest`,
		RunE: func(_ *cobra.Command, words []string) error {
			name := ""
			if len(words) == 1 {
				name = words[0]
			}
			if accept == "" {
				return a.runGateBaseline(name, asJSON)
			}
			if name == "" {
				return args.Errorf("--accept needs the NAME of a baseline")
			}
			return a.withRun(accept, &args.Drive{}, func(s *store, info engine.Info) error { return a.acceptGateBaseline(s, info, name, asJSON) })
		},
	}
	c.Flags().StringVar(&accept, "accept", "", "take the last figure of this `run` as the baseline")
	jsonFlag(c, &asJSON)
	return c
}

// runGateBaseline shows one baseline, or all of them.
func (a *app) runGateBaseline(name string, asJSON bool) error {
	v, err := a.askShared(event.StoreRequest{Baseline: &event.BaselineRequest{Name: name}}, readsStore)
	if err != nil {
		return err
	}
	all, _ := v.([]any)
	if o, ok := v.(map[string]any); ok {
		all = []any{o}
	}
	if name != "" && len(all) == 0 {
		return a.noBaseline("there is no baseline %s", ui.Quote(name))
	}
	if asJSON {
		return ui.WriteJSON(a.out, append([]any{}, all...))
	}
	for _, v := range all {
		o, _ := v.(map[string]any)
		a.out.Printf("%s\n", baselineWords(o))
	}
	return nil
}

func (a *app) noBaseline(format string, args ...any) error {
	a.err.Printf(format+"\nTo see all baselines: flowrun gate baseline\n", args...)
	return &ended{exitNo}
}

func baselineWords(o map[string]any) string {
	figure, _ := o["figure"].(float64)
	metric, _ := o["metric"].(string)
	return ui.Clean(fmt.Sprintf("%v: %s %s, of run %v, since %v", o["name"], metric, event.MeasuredText(metric, figure, 6), o["run"], o["at"]))
}

// acceptGateBaseline makes the last figure of a run the baseline.
func (a *app) acceptGateBaseline(s *store, info engine.Info, name string, asJSON bool) error {
	ctx := context.Background()
	p, err := s.Past(ctx, info.Run)
	if err != nil {
		return err
	}
	var last *event.Figure
	if err := p.Replay(ctx, func(e runner.Seen) bool {
		for i := range e.Caused.Transitions {
			if g := e.Caused.Transitions[i].Gate; g != nil && g.Evidence != nil && g.Evidence.Figure != nil && g.Evidence.Figure.Name == name {
				last = g.Evidence.Figure
			}
		}
		return true
	}); err != nil {
		return err
	}
	if last == nil {
		return a.noBaseline("run %s has measured no figure of the name %s", info.Run, ui.Quote(name))
	}
	if _, err := s.Ask(ctx, event.StoreRequest{Baseline: &event.BaselineRequest{Name: name, Metric: last.Metric, Figure: last.Median, Run: info.Run, Accept: true}}); err != nil {
		return refusedRequest(err)
	}
	if asJSON {
		return ui.WriteJSON(a.out, map[string]any{"name": name, "metric": last.Metric, "figure": last.Median, "run": info.Run})
	}
	a.out.Printf("%s: %s %s of run %s is the baseline\n", ui.Clean(name), ui.Clean(last.Metric), event.MeasuredText(last.Metric, last.Median, 6), info.Run)
	return nil
}
