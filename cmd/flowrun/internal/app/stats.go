package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/stats"
)

func (a *app) newStatsCommand() *cobra.Command {
	r := args.Stats{Groups: groupsOfStats()}
	c := &cobra.Command{
		Use: "stats", Short: "Show how many tasks were done, with success rate, times and cost",
		Long: `stats computes figures from the journals of the runs that began, ended or were live in a span of time. A task is one execution of a step
by an agent, with all of its attempts; it counts when it succeeds or fails.

  throughput       tasks that succeeded / hours
  success rate     tasks that succeeded / tasks
  mean time        average of the time from the start of a task to its end
  idle             time in which an agent had no attempt / time, over all agents that had one in the span
  retry rate       attempts beyond the first of each task / attempts
  escalation rate  tasks that came to a level of their escalation / tasks

With --forecasts it also compares how long runs were expected to take when they began, as flowrun plan says it, with how long they took: the
medians, the median of time taken / forecast, and the share of runs whose forecast was wrong by at most 25% of the time taken. Runs
count that succeeded, were not limited to some steps, repeat no other run, and had earlier runs to learn from.

After them come the targets of loops, whose tasks are items, and whose figures are those of the last 24 hours.`,
		Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return a.runStats(&r) },
	}
	c.Flags().StringVar(&r.Since, "since", "24h", "count from an `AGE` ago (24h, 7d), or from a time (2026-01-05T08:00:00Z)")
	c.Flags().StringVar(&r.By, "by", "", "a line for each `GROUP`: workflow, agent, pattern (the group around a step, or its feedback, consensus or compete) or version")
	c.Flags().BoolVar(&r.Daily, "daily", false, "also a line for each day; with --by in JSON the groups of each day")
	c.Flags().BoolVar(&r.Forecasts, "forecasts", false, "also compare forecasts of runs with how long they took")
	jsonFlag(c, &r.JSON)
	return c
}

func groupsOfStats() (list []string) {
	for _, g := range stats.Groups {
		list = append(list, string(g))
	}
	return list
}

func (a *app) runStats(r *args.Stats) error {
	if err := r.Check(); err != nil {
		return err
	}
	at := time.Now()
	begin, err := r.Begin(at)
	if err != nil {
		return err
	}
	since, until := event.At(begin), event.At(at)
	runs, err := a.foldForStats(since)
	if err != nil {
		return err
	}
	loops, err := a.loopsForStats()
	if err != nil {
		return err
	}
	total, groups := stats.Compute(runs, since, until, stats.Group(r.By))
	out := ui.StatsOf{Since: since, Until: until, By: r.By, Total: total, Groups: groups, Loops: loops}
	if r.Daily {
		if at.Sub(begin) > (serve.MaxDays-1)*24*time.Hour {
			return args.Errorf("--daily is for %d days at most", serve.MaxDays-1)
		}
		if a.global.UTC {
			at = at.UTC()
		}
		for _, d := range serve.DescribeDays(runs, begin, at, stats.Group(r.By)) {
			out.Days = append(out.Days, ui.DayOf(d))
		}
	}
	if r.Forecasts {
		out.Forecasts = serve.DescribeForecasts(runs, begin, at, r.Daily)
	}
	ui.Stats(a.out, out, r.JSON)
	return nil
}

// foldForStats folds the runs of the store that had not ended at a moment. A store that does not exist has none.
func (a *app) foldForStats(since event.Time) ([]*stats.Run, error) {
	return readStore(a, func(ctx context.Context, s *store) ([]*stats.Run, error) {
		return s.Stats(ctx, since, nil, func(run string, err error) {
			a.err.Printf("Run %s is left out: %s\n", ui.Clean(run), ui.Clean(err.Error()))
		})
	})
}

// loopsForStats reads the figures of the loops that have a target.
func (a *app) loopsForStats() ([]ui.LoopFigures, error) {
	return readStore(a, func(ctx context.Context, s *store) (out []ui.LoopFigures, err error) {
		list, err := serve.ReadLoops(ctx, s)
		for i := range list {
			if len(list[i].Targets) == 0 {
				continue
			}
			l := ui.LoopFigures{Loop: list[i].Loop, Targets: list[i].Targets}
			for _, t := range list[i].Targets {
				if t.Wanted != nil {
					l.Words = append(l.Words, t.Words)
				}
			}
			out = append(out, l)
		}
		return out, err
	})
}
