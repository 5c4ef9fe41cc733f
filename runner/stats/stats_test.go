package stats_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/stats"
)

const minute = event.Time(time.Minute)

// A day of two runs, written down event by event. Every figure is computed by hand.
func TestKnownDay(t *testing.T) {
	w := &ir.Workflow{Name: "ship", Nodes: []ir.Node{
		{Name: "write", Kind: ir.Step},
		{Name: "both", Kind: ir.Parallel, Pattern: "compete", Children: []ir.Node{{Name: "check", Kind: ir.Step}, {Name: "again", Kind: ir.Step, Repeat: &ir.Repeat{}}}},
	}}
	ended := newDay(w)
	ended.begin(0)
	ended.start(10*minute, 1, "write", "ann") // waits until minute 12 for its start
	ended.finish(22*minute, 1, 12*minute, event.OK)
	ended.end(22*minute, "write", event.Result{Agent: "ann", Attempts: 1, StartedAt: 10 * minute, FinishedAt: 22 * minute,
		Usage: &event.Usage{InputTokens: 100, OutputTokens: 20, OtherTokens: 3, CostUSD: 0.5}}, event.Succeeded)
	ended.start(22*minute, 2, "check", "bob")
	ended.finish(30*minute, 2, 0, event.Failed)
	ended.start(31*minute, 3, "check", "bob")
	ended.finish(39*minute, 3, 0, event.OK)
	ended.end(39*minute, "check", event.Result{Agent: "bob", Attempts: 2, StartedAt: 22 * minute, FinishedAt: 39 * minute, Escalated: "team"}, event.Succeeded)
	ended.start(39*minute, 4, "again", "ann")
	ended.finish(41*minute, 4, 0, event.Failed)
	ended.end(41*minute, "again", event.Result{Agent: "ann", Attempts: 1, StartedAt: 39 * minute, FinishedAt: 41 * minute}, event.FailedS)
	ended.end(42*minute, "again", event.Result{Agent: "ann", Attempts: 1, FinishedAt: 42 * minute}, event.Cancelled)                // does not count
	ended.end(42*minute, "write", event.Result{Agent: "ann", Attempts: 1, FinishedAt: 42 * minute, Reused: true}, event.Succeeded)  // nor does this
	ended.Apply([]event.Event{{At: 42 * minute, TimerFired: &event.TimerFired{}}}, &event.Reaction{Transitions: []event.Transition{ // an item of a loop
		{Node: "item", From: event.Running, To: event.Succeeded, Result: &event.Result{Agent: "ann", Attempts: 1, FinishedAt: 42 * minute}}}})
	ended.end(43*minute, "", event.Result{}, event.FailedS)

	live := newDay(w)
	live.begin(30 * minute)
	live.start(50*minute, 1, "write", "ann")
	live.wait(50*minute, "check")
	runs := []*stats.Run{ended.Run, live.Run}

	total, groups := stats.Compute(runs, 0, 60*minute, stats.ByAgent)
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-12 {
			t.Errorf("%s is %v, not %v", what, show(got), want)
		}
	}
	counts := func(f stats.Figures) string {
		return fmt.Sprint(f.Runs, f.Tasks, f.Succeeded, f.Failed, f.Attempts, f.Retries, f.Escalated, f.Agents, f.Live, f.Busy, f.Queue)
	}
	if got, want := counts(total), "2 3 2 1 4 1 1 2 1 1 1"; got != want {
		t.Errorf("the counts are %s, not %s", got, want)
	}
	near("throughput", &total.Throughput, 2)
	near("success rate", total.SuccessRate, 2.0/3)
	near("error rate", total.ErrorRate, 1.0/3)
	near("mean time", total.MeanTime, (12+17+2)*60/3.0)
	near("retry rate", total.RetryRate, 1.0/4)
	near("escalation rate", total.EscalationRate, 1.0/3)
	near("utilization", total.Utilization, float64(10+2+10+8+8)/120) // ann and bob have 60 minutes each
	near("idle", total.Idle, 1-38.0/120)
	near("tokens", &total.Tokens, 123)
	near("cost", &total.CostUSD, 0.5)

	if len(groups) != 2 || groups[0].Name != "ann" || groups[1].Name != "bob" {
		t.Fatalf("the agents are %v", groups)
	}
	if got, want := counts(groups[0].Figures), "2 2 1 1 2 0 0 1 1 1 0"; got != want {
		t.Errorf("the counts of ann are %s, not %s", got, want)
	}
	near("idle of ann", groups[0].Idle, 1-22.0/60)
	near("idle of bob", groups[1].Idle, 1-16.0/60)

	for by, want := range map[stats.Group]string{ // any order
		stats.ByWorkflow: "[ship:3]", stats.ByVersion: "[ship 0123456789ab:3]", stats.ByPattern: "[compete:2 step:1]",
	} {
		_, groups := stats.Compute(runs, 0, 60*minute, by)
		var got []string
		for _, g := range groups {
			got = append(got, fmt.Sprintf("%s:%d", g.Name, g.Tasks))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("by %s: %v, not %s", by, got, want)
		}
	}

	// Of a part of the day only what ended in it counts, and only the work in it.
	total, _ = stats.Compute(runs, 30*minute, 40*minute, "")
	if total.Tasks != 1 || total.Agents != 2 {
		t.Errorf("from minute 30 to 40 there are %d tasks of %d agents", total.Tasks, total.Agents)
	}
	near("utilization of a part", total.Utilization, (8+1)/20.0)
	days := stats.Days(runs, []event.Time{0, 20 * minute, 40 * minute, 50*minute - 1, 60 * minute}, stats.ByAgent)
	var got []string
	for _, d := range days {
		got = append(got, fmt.Sprintf("%d-%d %s %v", d.From/minute, d.Until/minute, counts(d.Total), len(d.Groups)))
	}
	want := "[0-20 1 0 0 0 0 0 0 1 0 0 0 1 20-40 2 2 2 0 3 1 1 2 0 0 0 2 40-49 2 1 0 1 1 0 0 1 0 0 0 1 50-60 1 0 0 0 0 0 0 1 1 1 1 1]"
	if fmt.Sprint(got) != strings.ReplaceAll(want, "50-60", "49-60") {
		t.Errorf("the days are\n%s\nnot\n%s", got, want)
	}
	if total, _ := stats.Compute(nil, 0, minute, ""); total.SuccessRate != nil || total.Idle != nil || total.MeanTime != nil {
		t.Errorf("rates of nothing: %+v", total)
	}
}

// TestCompareForecasts: each figure is computed by hand.
func TestCompareForecasts(t *testing.T) {
	run := func(workflow string, from, took event.Time, status event.Status, expected time.Duration) *stats.Run {
		d := newDay(&ir.Workflow{Name: workflow})
		d.begin(from)
		if status != "" {
			d.end(from+took, "", event.Result{}, status)
		}
		d.Expect(func() (time.Duration, bool) { return expected, expected > 0 })
		return d.Run
	}
	runs := []*stats.Run{
		run("a", minute, 10*minute, event.Succeeded, 8*time.Minute),     // wrong by a fifth
		run("a", 20*minute, 20*minute, event.Succeeded, 10*time.Minute), // by a half
		run("b", 50*minute, 5*minute, event.Succeeded, 10*time.Minute),  // by all
		run("b", 60*minute, 4*minute, event.Succeeded, 5*time.Minute),   // by a quarter
		run("b", 65*minute, minute, event.FailedS, 10*time.Minute),      // did not do its work
		run("c", 65*minute, minute, event.Succeeded, 0),                 // nobody knows
		run("c", 65*minute, 0, "", time.Minute),                         // goes on
	}
	words := func(f stats.Forecast) string {
		return fmt.Sprint(f.Runs, " ", show(f.Expected), " ", show(f.Took), " ", show(f.Ratio), " ", show(f.Close))
	}
	total, workflows := stats.CompareForecasts(runs, 0, 100*minute)
	got := words(total)
	for _, w := range workflows {
		got += "; " + w.Name + " " + words(w.Forecast)
	}
	if want := "4 540 450 1.025 0.5; a 2 540 900 1.625 0.5; b 2 450 270 0.65 0.5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if total, workflows = stats.CompareForecasts(runs, 11*minute, 40*minute); words(total) != "1 600 1200 2 0" || len(workflows) != 1 {
		t.Errorf("of a part: %s, %v", words(total), workflows)
	}
	if total, _ = stats.CompareForecasts(runs, 41*minute, 42*minute); words(total) != "0 nothing nothing nothing nothing" {
		t.Errorf("of nothing: %s", words(total))
	}
}

// The driver of a run dies: what its attempts did until then counts, and they are not live any more.
func TestLostDriver(t *testing.T) {
	d := newDay(&ir.Workflow{Name: "w", Nodes: []ir.Node{{Name: "a", Kind: ir.Step}}})
	d.begin(0)
	d.start(minute, 1, "a", "ann")
	d.Apply([]event.Event{{At: 4 * minute, External: &event.External{}}}, &event.Reaction{})
	d.Apply([]event.Event{{At: 50 * minute, DriverChanged: &event.DriverChanged{}}}, &event.Reaction{})
	total, _ := stats.Compute([]*stats.Run{d.Run}, 0, 60*minute, "")
	if total.Busy != 0 || total.Utilization == nil || math.Abs(*total.Utilization-3.0/60) > 1e-12 {
		t.Errorf("%d agents are busy, and %s of the time was used", total.Busy, show(total.Utilization))
	}
}

// A week: on each of six days ann has a task of ten minutes more than the day before, and on the seventh none. The task of the fourth day fails,
// and that of the sixth is escalated after one retry. Every figure is computed by hand.
func TestKnownWeek(t *testing.T) {
	const day, hour = 24 * 60 * minute, 60 * minute
	w := &ir.Workflow{Name: "daily", Nodes: []ir.Node{{Name: "work", Kind: ir.Step}}}
	var runs []*stats.Run
	bounds := []event.Time{0}
	for k := range event.Time(7) {
		bounds = append(bounds, (k+1)*day)
		if k == 6 {
			continue
		}
		from, to := k*day+8*hour, k*day+8*hour+(k+1)*10*minute
		r, status, result := newDay(w), event.Succeeded, event.Result{Agent: "ann", Attempts: 1, StartedAt: from, FinishedAt: to,
			Usage: &event.Usage{InputTokens: 10, CostUSD: 0.25}}
		r.begin(from)
		r.start(from, 1, "work", "ann")
		switch k {
		case 3:
			status = event.FailedS
			r.finish(to, 1, from, event.Failed)
		case 5:
			result.Attempts, result.Escalated = 2, "lead"
			r.finish(from+25*minute, 1, from, event.Failed)
			r.start(from+25*minute, 2, "work", "ann")
			r.finish(to, 2, from+25*minute, event.OK)
		default:
			r.finish(to, 1, from, event.OK)
		}
		r.end(to, "work", result, status)
		r.end(to, "", event.Result{}, status)
		runs = append(runs, r.Run)
	}
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-12 {
			t.Errorf("%s is %v, not %v", what, show(got), want)
		}
	}
	total, _ := stats.Compute(runs, 0, 7*day, "")
	near("throughput", &total.Throughput, 5.0/168) // of tasks that succeeded
	near("success rate", total.SuccessRate, 5.0/6)
	near("error rate", total.ErrorRate, 1.0/6)
	near("mean time", total.MeanTime, 35*60)
	near("retry rate", total.RetryRate, 1.0/7)
	near("escalation rate", total.EscalationRate, 1.0/6)
	near("utilization", total.Utilization, 210.0/(7*24*60))
	near("idle", total.Idle, 1-210.0/(7*24*60))
	near("tokens", &total.Tokens, 60)
	near("cost", &total.CostUSD, 1.5)
	for k, d := range stats.Days(runs, bounds, "") {
		f := d.Total
		if k == 6 {
			if f.Tasks != 0 || f.SuccessRate != nil || f.MeanTime != nil || f.Utilization != nil {
				t.Errorf("the day without work: %+v", f)
			}
			continue
		}
		if f.Tasks != 1 || (f.Failed == 1) != (k == 3) {
			t.Errorf("day %d has %d tasks, %d failed", k, f.Tasks, f.Failed)
		}
		near("throughput of a day", &f.Throughput, float64(1-f.Failed)/24)
		near("mean time of a day", f.MeanTime, float64((k+1)*600))
		near("utilization of a day", f.Utilization, float64((k+1)*10)/(24*60))
		near("cost of a day", &f.CostUSD, 0.25)
	}
}

func show(f *float64) string {
	if f == nil {
		return "nothing"
	}
	return fmt.Sprint(*f)
}

// day is a run that is written down.
type day struct{ *stats.Run }

func newDay(w *ir.Workflow) day { return day{stats.NewRun(w, "0123456789abcdef")} }

func (d day) begin(at event.Time) {
	d.Apply([]event.Event{{At: at, RunStarted: &event.RunStarted{}}}, &event.Reaction{Transitions: []event.Transition{{To: event.Running}}})
}

func (d day) start(at event.Time, ticket uint64, node, agent string) {
	d.Apply([]event.Event{{At: at, TimerFired: &event.TimerFired{}}}, &event.Reaction{
		Commands:    []event.Command{{Start: &event.Attempt{Ticket: ticket, Node: node, Name: node, Agent: &event.AgentRequest{Name: agent}}}},
		Transitions: []event.Transition{{Node: node, Name: node, Kind: "step", From: event.Pending, To: event.Running}},
	})
}

func (d day) finish(at event.Time, ticket uint64, started event.Time, o event.Outcome) {
	d.Apply([]event.Event{{At: at, AttemptFinished: &event.AttemptFinished{Ticket: ticket, StartedAt: started, Outcome: o}}}, &event.Reaction{})
}

func (d day) wait(at event.Time, node string) {
	d.Apply([]event.Event{{At: at, TimerFired: &event.TimerFired{}}}, &event.Reaction{
		Transitions: []event.Transition{{Node: node, Name: node, Kind: "step", From: event.Running, To: event.Waiting}}})
}

func (d day) end(at event.Time, node string, r event.Result, s event.Status) {
	d.Apply([]event.Event{{At: at, TimerFired: &event.TimerFired{}}}, &event.Reaction{
		Transitions: []event.Transition{{Node: node, Name: node, Kind: "step", From: event.Running, To: s, Result: &r}}})
}
