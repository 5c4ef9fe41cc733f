package ui

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/stats"
)

// StatsOf are the figures of a span of time, in all and by group.
type StatsOf struct {
	Since, Until event.Time
	By           string // "": Groups is empty
	Total        stats.Figures
	Groups       []stats.Named
	Loops        []LoopFigures
	Days         []DayOf          // the oldest first
	Forecasts    *stats.Forecasts // nil: nobody asked
}

// DayOf are the figures of a day.
type DayOf struct {
	From   string        `json:"from"` // in RFC 3339
	Until  string        `json:"until"`
	Total  stats.Figures `json:"total"`
	Groups []stats.Named `json:"groups"`
}

// LoopFigures are the figures of the last 24 hours of a loop that has a target.
type LoopFigures struct {
	Loop    string   `json:"loop"`
	Targets any      `json:"targets"` // as loop status has them
	Words   []string `json:"-"`       // of those that have a target, as people read them
}

// statsJSON is StatsOf with --json.
type statsJSON struct {
	Since  string        `json:"since"`
	Until  string        `json:"until"`
	Total  stats.Figures `json:"total"`
	By     *string       `json:"by"`
	Groups []stats.Named `json:"groups"`
	Days   []DayOf       `json:"days,omitempty"`
	Loops  []LoopFigures `json:"loops,omitempty"`

	Forecasts *stats.Forecasts `json:"forecasts,omitempty"`
}

// Stats writes figures, as a table or as JSON.
func Stats(t *Term, s StatsOf, asJSON bool) {
	if asJSON {
		j := statsJSON{Since: s.Since.Go().Format(time.RFC3339), Until: s.Until.Go().Format(time.RFC3339), Total: s.Total, Groups: []stats.Named{}, Loops: s.Loops, Days: s.Days, Forecasts: s.Forecasts}
		if s.By != "" {
			j.By, j.Groups = &s.By, append(j.Groups, s.Groups...)
		}
		_ = WriteJSON(t, j)
		return
	}
	f := &s.Total
	line := func(name, text string) { t.Printf("%-15s  %s\n", name, text) }
	line("since", s.Since.Go().Local().Format("2006-01-02 15:04"))
	line("runs", fmt.Sprintf("%d, %d of them live", f.Runs, f.Live))
	line("tasks", fmt.Sprintf("%d: %d succeeded, %d failed", f.Tasks, f.Succeeded, f.Failed))
	line("throughput", fmt.Sprintf("%.3g an hour", f.Throughput))
	line("success rate", percent(f.SuccessRate))
	line("mean time", timeOf(f.MeanTime))
	line("idle", percent(f.Idle)+agentsOf(f))
	line("retry rate", percent(f.RetryRate)+fmt.Sprintf(" (%s of %s)", countOf(f.Retries, "retry", "retries"), Count(f.Attempts, "attempt")))
	line("escalation rate", percent(f.EscalationRate))
	line("used", fmt.Sprintf("%.0f tokens, %.2f dollars", f.Tokens, f.CostUSD))
	line("now", fmt.Sprintf("%d of %s at work, %s waiting", f.Busy, Count(f.Agents, "agent"), Count(f.Queue, "step")))
	for _, l := range s.Loops {
		for _, words := range l.Words {
			t.Printf("%s: %s\n", Clean(l.Loop), Clean(words))
		}
	}
	if len(s.Days) > 0 {
		t.Printf("\n%-10s  %6s  %6s  %8s  %9s  %6s  %9s  %8s\n", "day", "tasks", "failed", "success", "mean time", "retry", "tokens", "dollars")
	}
	for i := range s.Days {
		d := &s.Days[i].Total
		t.Printf("%s  %6d  %6d  %8s  %9s  %6s  %9.0f  %8.2f\n", s.Days[i].From[:len(time.DateOnly)], d.Tasks, d.Failed, percent(d.SuccessRate), timeOf(d.MeanTime), percent(d.RetryRate), d.Tokens, d.CostUSD)
	}
	if s.Forecasts != nil {
		showForecasts(t, s.Forecasts)
	}
	if s.By == "" {
		return
	}
	width := len(s.By)
	for _, g := range s.Groups {
		width = max(width, Cells(Clean(g.Name)))
	}
	t.Printf("\n%-*s  %6s  %6s  %8s  %9s  %6s  %6s  %9s\n", width, s.By, "tasks", "failed", "success", "mean time", "idle", "retry", "escalated")
	for _, g := range s.Groups {
		name := Clean(g.Name)
		t.Printf("%s%*s  %6d  %6d  %8s  %9s  %6s  %6s  %9s\n", name, width-Cells(name), "", g.Tasks, g.Failed, percent(g.SuccessRate),
			timeOf(g.MeanTime), percent(g.Idle), percent(g.RetryRate), percent(g.EscalationRate))
	}
}

func agentsOf(f *stats.Figures) string {
	if f.Agents == 0 {
		return ""
	}
	return " of " + Count(f.Agents, "agent")
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// percent writes a rate; nil is a dash.
func percent(rate *float64) string {
	if rate == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100**rate)
}

// timeOf writes a duration in seconds; nil is a dash.
func timeOf(s *float64) string {
	if s == nil {
		return "-"
	}
	return Duration(time.Duration(*s * float64(time.Second)))
}

// showForecasts writes what was expected of runs beside what they took. A ratio above 1 means that runs take longer than expected.
func showForecasts(t *Term, f *stats.Forecasts) {
	width := len("all workflows")
	for _, w := range f.Workflows {
		width = max(width, Cells(Clean(w.Name)))
	}
	head := func(first string) {
		t.Printf("\n%-*s  %6s  %9s  %9s  %6s  %10s\n", width, first, "runs", "forecast", "took", "ratio", "within 25%")
	}
	line := func(name string, f *stats.Forecast) {
		ratio := "-"
		if f.Ratio != nil {
			ratio = fmt.Sprintf("%.2f", *f.Ratio)
		}
		t.Printf("%s%*s  %6d  %9s  %9s  %6s  %10s\n", name, width-Cells(name), "", f.Runs, timeOf(f.Expected), timeOf(f.Took), ratio, percent(f.Close))
	}
	head("workflow")
	for i := range f.Workflows {
		line(Clean(f.Workflows[i].Name), &f.Workflows[i].Forecast)
	}
	line("all workflows", &f.Total)
	if len(f.Days) > 0 {
		head("day")
	}
	for i := range f.Days {
		line(f.Days[i].From[:len(time.DateOnly)], &f.Days[i].Total)
	}
}
