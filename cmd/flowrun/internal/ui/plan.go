package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/forecast"
	"github.com/flowrun/flowrun/runner/outline"
	"github.com/flowrun/flowrun/runner/scripts"
	"github.com/flowrun/flowrun/runner/simulate"
)

// Planned is what a run would do, and how long it would take.
type Planned struct {
	*outline.Outline
	Forecast *forecast.Forecast `json:"forecast"`
	Worst    *outline.Worst     `json:"worst_case"`
	// Simulated is what simulated runs came to; nil: there were none.
	Simulated *simulate.Result `json:"simulated,omitempty"`
	// Scripts are the files that steps run. A run does not pin them.
	Scripts []scripts.Use `json:"scripts,omitempty"`
	// Routines start the workflow by the clock.
	Routines []PlannedRoutine `json:"routines,omitempty"`
	// Starts say what else starts it by itself: events and loops.
	Starts []string `json:"starts,omitempty"`
	// Engine is the server on which the file asks to run; "" for the store.
	Engine string `json:"engine,omitempty"`
}

// PlannedRoutine is a routine with its next moments, in RFC 3339. A routine that its program has paused has none.
type PlannedRoutine struct {
	Name     string   `json:"name"`
	Schedule string   `json:"schedule"` // in words
	Next     []string `json:"next"`
}

// Plan writes what a run would do: a line for each step under its wave, and what follows from it.
func Plan(t *Term, p *Planned) {
	o, times := p.Outline, p.durations()
	t.Printf("%s: %s in %s, %s\n", t.Style(bold, "workflow "+Clean(o.Workflow)), Count(len(o.Steps), "step"),
		Count(len(o.Waves), "wave"), most(p.Worst))
	if o.Description != "" {
		t.Printf("%s\n", Clean(o.Description))
	}
	if p.Engine != "" {
		t.Printf("Engine: %s\n", Clean(p.Engine))
	}
	node, does := 0, 0
	for _, list := range [][]outline.Step{o.Steps, o.Finally} {
		for i := range list {
			node, does = max(node, Cells(Clean(list[i].Node))), max(does, Cells(Clean(list[i].Does)))
		}
	}
	wave := 0
	for i := range o.Steps {
		s := &o.Steps[i]
		head := "   "
		if s.Wave != wave {
			wave = s.Wave
			head = fmt.Sprintf("%3d", wave)
		}
		t.Printf("\n%s", strings.TrimRight(head+"  "+planned(s, node, does, times), " "))
	}
	for i := range o.Finally {
		head := "   "
		if i == 0 {
			head = "end"
		}
		t.Printf("\n%s", strings.TrimRight(head+"  "+planned(&o.Finally[i], node, does, times), " "))
	}
	t.Printf("\n")
	for i := range o.Patterns {
		if i == 0 {
			t.Printf("\n")
		}
		p := &o.Patterns[i]
		t.Printf("%s %s: %s\n", Clean(p.Pattern), Clean(p.Node), Clean(strings.Join(p.Steps, ", ")))
	}
	for i := range o.Rules {
		if i == 0 {
			t.Printf("\n")
		}
		t.Printf("%s\n", Clean(ruleWords(&o.Rules[i])))
	}
	if chain := p.chain(); chain != "" {
		t.Printf("\nLongest chain: %s\n", Clean(chain))
	}
	t.Printf("\n%s\n", Clean(p.worst()))
	p.shared(t)
	for i, u := range p.Scripts {
		if i == 0 {
			t.Printf("\nFiles that steps run, as they are then (a run does not pin them):\n")
		}
		t.Printf("  %s: %s\n", Clean(u.Node), Clean(u.Path))
	}
	t.Printf("\n%s\n", p.forecast())
	if p.Simulated != nil {
		t.Printf("%s\n", simulated(p.Simulated))
	}
	for i, r := range p.Routines {
		if i == 0 {
			t.Printf("\n")
		}
		next := "paused"
		if len(r.Next) > 0 {
			next = "next at " + strings.Join(r.Next, ", ")
		}
		t.Printf("Routine %s, %s: %s\n", Clean(r.Name), Clean(r.Schedule), next)
	}
	for i, s := range p.Starts {
		if i == 0 {
			t.Printf("\n")
		}
		t.Printf("Started by %s\n", Clean(s))
	}
	for i := range p.Loops {
		l := &p.Loops[i]
		for _, q := range l.Quotas {
			t.Printf("Loop %s waits for quota %s (%s)\n", Clean(l.Name), Clean(q.Name), Clean(strings.Join(q.Bounds, ", ")))
		}
		if len(l.Targets) > 0 {
			t.Printf("Loop %s has the target %s\n", Clean(l.Name), Clean(strings.Join(l.Targets, ", ")))
		}
	}
}

// shared writes what bounds the run: its budgets, and what it shares with other runs.
func (p *Planned) shared(t *Term) {
	if len(p.Budgets) > 0 {
		t.Printf("\nBudgets:\n")
	}
	for _, b := range p.Budgets {
		whose := b.Node
		if whose == "" {
			whose = "the run"
		}
		t.Printf("  %s: %s\n", Clean(whose), Clean(strings.Join(b.Bounds, ", ")))
	}
	if len(p.Shared) > 0 {
		t.Printf("\nShared by all runs:\n")
	}
	for i := range p.Shared {
		r := &p.Shared[i]
		bounds, users := "", []string{}
		if len(r.Bounds) > 0 {
			bounds = ": " + strings.Join(r.Bounds, ", ")
		}
		for _, u := range r.UsedBy {
			users = append(users, user(&u))
		}
		t.Printf("  %s %s%s; for %s\n", r.Kind, Clean(r.Name), Clean(bounds), Clean(strings.Join(users, ", ")))
	}
}

// user names a node, and what it takes of a quota or asks for of a pool.
func user(u *outline.Use) string {
	name, notes := u.Node, []string{}
	if name == "" {
		name = "the run"
	}
	if u.Units != "" {
		notes = append(notes, u.Units)
	}
	if u.Holds {
		notes = append(notes, "held to its end")
	}
	if len(u.Capabilities) > 0 {
		notes = append(notes, "needs "+strings.Join(u.Capabilities, ", "))
	}
	if len(notes) == 0 {
		return name
	}
	return name + " (" + strings.Join(notes, "; ") + ")"
}

// ruleWords says what a rule of adapt does: adapts while metrics.cpu > 80 until metrics.cpu < 60: at most 2 at once.
func ruleWords(r *outline.Rule) string {
	text := "adapts while " + r.When
	if r.Node != "" {
		text = r.Node + " " + text
	}
	if r.For != "" {
		text += " for " + r.For
	}
	if r.Until != "" {
		text += " until " + r.Until
	}
	var does []string
	if r.MaxConcurrency != "" {
		does = append(does, fmt.Sprintf("at most %s at once", r.MaxConcurrency))
	}
	if r.Workflow != "" {
		does = append(does, "call "+r.Workflow)
	}
	if len(r.Notify) > 0 {
		does = append(does, "tell "+strings.Join(r.Notify, ", "))
	}
	return text + ": " + strings.Join(does, ", ")
}

// durations writes how long an execution of each step is expected to take, by its name, to one width; with a star where
// the step is part of the chain that takes longest. It is empty where nothing is known.
func (p *Planned) durations() map[string]string {
	times, wide := map[string]string{}, 0
	for name, s := range p.Forecast.Node {
		times[name] = Duration(seconds(s)) + " "
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Does == "value" && len(times) > 0 {
			times[s.Name] = Duration(0) + " "
		}
	}
	for _, name := range p.Forecast.Chain {
		if times[name] == "" {
			times[name] = "? "
		}
		times[name] = strings.TrimSuffix(times[name], " ") + "*"
	}
	for _, text := range times {
		wide = max(wide, len(text))
	}
	for name, text := range times {
		times[name] = strings.Repeat(" ", wide-len(text)) + text
	}
	if wide > 0 {
		times[""] = strings.Repeat(" ", wide) // of a step of which nothing is known
	}
	return times
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// chain is the longest chain, by durations if they are known, else by the number of steps.
func (p *Planned) chain() string {
	if len(p.Forecast.Chain) == 0 {
		if len(p.Critical) < 2 {
			return ""
		}
		return strings.Join(p.Critical, " → ")
	}
	at := map[string]string{}
	for i := range p.Steps {
		at[p.Steps[i].Name] = p.Steps[i].Node
	}
	var nodes []string
	for _, name := range p.Forecast.Chain {
		nodes = append(nodes, at[name])
	}
	return fmt.Sprintf("%s (*, about %s)", strings.Join(nodes, " → "), Duration(seconds(p.Forecast.ChainSeconds)))
}

// forecast says how long a run would take, and what makes one think so.
func (p *Planned) forecast() string {
	f := p.Forecast
	from := fmt.Sprintf("from %s; a duration is known of %d of %s", Count(f.Runs, "earlier run"), f.Known, Count(f.Steps, "step"))
	switch {
	case f.Runs == 0:
		return "No forecast of the duration: no earlier run has succeeded."
	case f.Known == 0:
		return fmt.Sprintf("No forecast of the duration: the %s had none of these steps.", Count(f.Runs, "earlier run"))
	case f.Seconds == nil:
		return fmt.Sprintf("No forecast of the duration: the run has more than %d step executions.", forecast.MaxExecutions)
	}
	return fmt.Sprintf("Forecast: about %s with %d at once, %s.", Duration(seconds(*f.Seconds)), f.Slots, from)
}

// simulated says how the simulated runs ended.
func simulated(r *simulate.Result) string {
	cost := ""
	if r.CostUSD.P50 > 0 {
		cost = fmt.Sprintf(" and cost $%.2f", r.CostUSD.P50)
	}
	return fmt.Sprintf("Of %d simulated runs, half take at most %s%s, and %.0f%% succeed; more: flowrun simulate.", r.Runs, Duration(seconds(r.Seconds.P50)), cost, 100*r.Success)
}

// most says how many attempts there are at most.
func most(w *outline.Worst) string {
	if w.Attempts == nil {
		return "no known bound on attempts"
	}
	text := "at most " + Count(*w.Attempts-w.Gates, "attempt")
	if w.Gates > 0 {
		text += fmt.Sprintf(", and %d of gates", w.Gates)
	}
	return text
}

// attemptsOf are the numbers of attempts whose sum is the worst case.
func attemptsOf(w *outline.Worst) []string {
	parts := []string{fmt.Sprint(w.Known - w.Gates)}
	if w.Gates > 0 {
		parts = append(parts, fmt.Sprintf("%d of gates", w.Gates))
	}
	for _, e := range w.Each {
		switch {
		case e.Attempts == nil:
			parts = append(parts, "n × an unknown number for "+e.Node)
		case e.Gates > 0:
			parts = append(parts, fmt.Sprintf("n × (%d + %d of gates) for %s", *e.Attempts-e.Gates, e.Gates, e.Node))
		default:
			parts = append(parts, fmt.Sprintf("n × %d for %s", *e.Attempts, e.Node))
		}
	}
	return parts
}

// worst says what a run uses at most.
func (p *Planned) worst() string {
	w := p.Worst
	parts := attemptsOf(w)
	parts[0] = Count(w.Known-w.Gates, "attempt")
	text := "Worst case: " + strings.Join(parts, " + ")
	switch {
	case len(w.Silent) > 0:
		return text + fmt.Sprintf(". Their cost is not known: no attempt of %s has reported its usage.", strings.Join(w.Silent, ", "))
	case w.CostUSD == nil || *w.CostUSD == 0 && *w.Tokens == 0:
		return text + "."
	}
	return text + fmt.Sprintf(", %.4g dollars and %.0f tokens, if each attempt costs as much as the most expensive earlier attempt of its agent.", *w.CostUSD, *w.Tokens)
}

// planned is a step in a line: its name, what it does, what it waits for, how often, and on what condition.
func planned(s *outline.Step, node, does int, times map[string]string) string {
	var notes []string
	if s.Description != "" {
		notes = append(notes, Clean(s.Description))
	}
	if len(s.After) > 0 {
		notes = append(notes, "after "+strings.Join(s.After, ", "))
	}
	switch {
	case s.Instances != nil:
		notes = append(notes, Count(*s.Instances, "instance"))
	case len(s.ForEach) > 0:
		notes = append(notes, "for each of "+strings.Join(s.ForEach, " and "))
	}
	if s.Rounds != nil {
		notes = append(notes, "up to "+Count(*s.Rounds, "round"))
	}
	switch {
	case s.Skipped != "":
		notes = append(notes, "skipped: "+s.Skipped)
	case len(s.Conditions) > 0:
		notes = append(notes, "if "+strings.Join(s.Conditions, " and "))
	}
	switch {
	case s.Attempts == nil && s.Each != nil:
		notes = append(notes, "at most "+Count(*s.Each, "attempt")+" each")
	case s.Attempts == nil:
		notes = append(notes, "an unknown number of attempts")
	case *s.Attempts > 1:
		notes = append(notes, "at most "+Count(*s.Attempts, "attempt"))
	}
	if s.Escalates != "" {
		notes = append(notes, "escalates to "+s.Escalates)
	}
	name, act, took := Clean(s.Node), Clean(s.Does), times[s.Name]
	if took == "" {
		took = times[""]
	}
	if took != "" {
		took += "  "
	}
	return name + strings.Repeat(" ", node-Cells(name)) + "  " + act + strings.Repeat(" ", does-Cells(act)) + "  " + took +
		Clean(strings.Join(notes, "; "))
}
