package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLimitsCommand() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "limits", Short: "Show the quotas, rate limits and circuit breakers that runs share",
		Long: `limits lists the quotas and agents that runs of the store have used. Each line shows the units in use, the attempts that started in the window of the rate limit, the spending in its period, and the state of the circuit breaker. The waiting attempts are below it, with their waiting times, the next one first.`,
		Args: unknownCommand,
		RunE: func(*cobra.Command, []string) error { return a.runLimits(asJSON) },
	}
	jsonFlag(c, &asJSON)
	c.AddCommand(a.newLimitsResetCommand())
	return c
}

// maxLimitsWaiting bounds the attempts that are listed below one line.
const maxLimitsWaiting = 10

func (a *app) runLimits(asJSON bool) error {
	list, err := a.readLimits()
	if err != nil {
		return err
	}
	at := now()
	if asJSON {
		out := []serve.Limit{}
		for i := range list {
			out = append(out, serve.DescribeLimit(&list[i], at))
		}
		return ui.WriteJSON(a.out, map[string]any{"limits": out})
	}
	if len(list) == 0 {
		a.err.Printf("No run in this store has used a quota or an agent with a limit.\n")
	}
	for i := range list {
		l := &list[i]
		a.out.Printf("%s %s\t%s\n", l.Kind, ui.Clean(l.Name), describeLimits(l, at))
		for j, w := range l.Waiting {
			if j == maxLimitsWaiting {
				a.out.Printf("  and %d more\n", len(l.Waiting)-j)
				break
			}
			a.out.Printf("  %s of run %s has waited %s\n", ui.Clean(w.Node), ui.Clean(w.Run), ui.Duration(at.Sub(w.Since)))
		}
	}
	return nil
}

// describeLimits says in words how an agent or a quota stands.
func describeLimits(l *event.Limit, at event.Time) string {
	var parts []string
	if l.Stopped {
		parts = append(parts, "stopped")
	}
	if l.Capacity > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s in use", l.Used, ui.Count(l.Capacity, "unit")))
	}
	if l.Pace != nil {
		parts = append(parts, fmt.Sprintf("%d of %s in the last %s", l.Started, ui.Count(l.Pace.Requests, "start"), l.Pace.Per))
	}
	if s := l.Spending; s != nil {
		for _, p := range []struct {
			used, most float64
			unit       string
		}{{float64(l.Spent.Attempts), float64(s.Most.Attempts), "attempts"}, {l.Spent.Tokens, s.Most.Tokens, "tokens"}, {l.Spent.CostUSD, s.Most.CostUSD, "dollars"}} {
			if p.most > 0 {
				parts = append(parts, fmt.Sprintf("%.10g of %.10g %s in the last %s", p.used, p.most, p.unit, s.Per))
			}
		}
	}
	if l.Breaker != nil {
		text := "breaker " + strings.ReplaceAll(l.Health, "_", "-")
		if l.Failed > 0 {
			text += fmt.Sprintf(" after %d of %s in a row", l.Failed, ui.Count(l.Breaker.Failures, "failure"))
		}
		parts = append(parts, text)
	}
	if l.Next > at {
		parts = append(parts, fmt.Sprintf("the next start in %s", ui.Duration(l.Next.Sub(at))))
	}
	if len(l.Waiting) > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", len(l.Waiting)))
	}
	if parts == nil {
		return "free"
	}
	return strings.Join(parts, ", ")
}
