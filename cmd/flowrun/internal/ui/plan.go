package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/runner/outline"
)

// Plan writes what a run would do: a line for each step under its wave, and what follows from it.
func Plan(t *Term, o *outline.Outline) {
	t.Printf("%s: %s in %s, %s\n", t.Style(bold, "workflow "+Clean(o.Workflow)), Count(len(o.Steps), "step"),
		Count(len(o.Waves), "wave"), most(o))
	if o.Description != "" {
		t.Printf("%s\n", Clean(o.Description))
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
		t.Printf("\n%s", strings.TrimRight(head+"  "+planned(s, node, does), " "))
	}
	for i := range o.Finally {
		head := "   "
		if i == 0 {
			head = "end"
		}
		t.Printf("\n%s", strings.TrimRight(head+"  "+planned(&o.Finally[i], node, does), " "))
	}
	t.Printf("\n")
	if len(o.Critical) > 1 {
		t.Printf("\nLongest chain: %s\n", Clean(strings.Join(o.Critical, " → ")))
	}
	if len(o.Unknown) > 0 {
		t.Printf("\nHow many attempts depends on values of the run: %s\n", Clean(strings.Join(o.Unknown, ", ")))
	}
}

// most says how many attempts there are at most.
func most(o *outline.Outline) string {
	if o.Attempts == nil {
		return "no known bound on attempts"
	}
	return "at most " + Count(*o.Attempts, "attempt")
}

// planned is a step in a line: its name, what it does, what it waits for, how often, and on what condition.
func planned(s *outline.Step, node, does int) string {
	var notes []string
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
	name, act := Clean(s.Node), Clean(s.Does)
	return name + strings.Repeat(" ", node-Cells(name)) + "  " + act + strings.Repeat(" ", does-Cells(act)) + "  " +
		Clean(strings.Join(notes, "; "))
}
