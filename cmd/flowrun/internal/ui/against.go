package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/outline"
)

// PlanChanges say how programs differ from other definitions of them.
type PlanChanges struct {
	Against  string          `json:"against"`
	Programs []ProgramChange `json:"programs"`
}

// The states of a [ProgramChange] besides ir.Added, ir.Removed and ir.Altered.
const (
	Unchanged  = "same"
	NowRefused = "refused"     // the program has errors now
	WasRefused = "was_refused" // it had errors, so that there is nothing to compare it with
)

// ProgramChange says how a program differs.
type ProgramChange struct {
	Path    string `json:"path"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"` // the first error of a program that is or was refused
	// Declarations are what differs beside workflows.
	Declarations []ir.Change      `json:"declarations"`
	Workflows    []WorkflowChange `json:"workflows"` // those that differ, by name
	Same         int              `json:"same"`      // how many workflows do not differ
}

// WorkflowChange says how a workflow differs. State is ir.Added, ir.Removed, ir.Altered, or "" in a program that was refused.
type WorkflowChange struct {
	Workflow     string      `json:"workflow"`
	State        string      `json:"state"`
	Declarations []ir.Change `json:"declarations"` // of the workflow, its inputs and its outputs
	Nodes        []ir.Change `json:"nodes"`
	Before       *Figures    `json:"before"` // nil: there is no such workflow
	After        *Figures    `json:"after"`
}

// Figures are what a plan says of a workflow in numbers.
type Figures struct {
	Steps int            `json:"steps"`
	Chain []string       `json:"critical_path"`
	Worst *outline.Worst `json:"worst_case"`
	// Budget are the bounds of the budget of the workflow, in words.
	Budget []string `json:"budget,omitempty"`
}

// Differs reports whether a program differs.
func (c *PlanChanges) Differs() bool {
	for i := range c.Programs {
		if c.Programs[i].State != Unchanged {
			return true
		}
	}
	return false
}

// Refused counts the programs that have errors now.
func (c *PlanChanges) Refused() (n int) {
	for i := range c.Programs {
		if c.Programs[i].State == NowRefused {
			n++
		}
	}
	return n
}

// verdict counts the workflows: 2 workflows differ, 3 do not.
func (c *PlanChanges) verdict() string {
	differ, same, refused := 0, 0, c.Refused()
	for i := range c.Programs {
		p := &c.Programs[i]
		differ, same = differ+len(p.Workflows), same+p.Same
	}
	text := fmt.Sprintf("%s %s, %d %s not", Count(differ, "workflow"), verb(differ, "differ"), same, verb(same, "do"))
	if refused > 0 {
		text += fmt.Sprintf("; %s %s errors", Count(refused, "program"), verb(refused, "have"))
	}
	return text
}

// verb is a verb for a number of things.
func verb(n int, word string) string {
	switch {
	case n != 1:
		return word
	case word == "have":
		return "has"
	case word == "do":
		return "does"
	}
	return word + "s"
}

// told is what is said of a program that is not simply changed; "" for one that is.
func (p *ProgramChange) told() string {
	switch p.State {
	case NowRefused:
		return "has errors, so that it is not compared: " + p.Message
	case WasRefused:
		return "had errors, so that there is nothing to compare with: " + p.Message
	case Unchanged, ir.Altered:
		return ""
	}
	return "was " + p.State
}

// told is what is said of a workflow in a word.
func (w *WorkflowChange) told() string {
	if w.State == "" {
		return ""
	}
	return " " + w.State
}

// changes are all that differs in a workflow, its own first.
func (w *WorkflowChange) changes() []ir.Change {
	return append(w.Declarations[:len(w.Declarations):len(w.Declarations)], w.Nodes...)
}

// Text writes the comparison.
func (c *PlanChanges) Text(t *Term) {
	t.Printf("Compared with %s: %s.\n", Clean(c.Against), c.verdict())
	for i := range c.Programs {
		p := &c.Programs[i]
		if p.State == Unchanged {
			continue
		}
		t.Printf("\n%s\n", strings.TrimSpace(t.Style(bold, Clean(p.Path))+" "+Clean(p.told())))
		for _, x := range p.Declarations {
			t.Printf("  %s\n", Clean(ChangeWords(x)))
		}
		for k := range p.Workflows {
			w := &p.Workflows[k]
			t.Printf("  workflow %s%s\n", Clean(w.Workflow), w.told())
			for _, x := range w.changes() {
				t.Printf("    %s\n", Clean(ChangeWords(x)))
			}
			for _, r := range w.rows() {
				switch {
				case w.Before == nil || w.After == nil:
					t.Printf("    %s: %s\n", r.label, Clean(r.before+r.after))
				case r.before != r.after:
					t.Printf("    %s: %s → %s\n", r.label, Clean(r.before), Clean(r.after))
				}
			}
		}
	}
}

// maxChain bounds how many steps of a chain are named.
const maxChain = 12

// figure is a row of a table: the value on each side; "" on a side that has no such workflow.
type figure struct{ label, before, after string }

// rows are the figures of a workflow that say something on one side at least.
func (w *WorkflowChange) rows() (list []figure) {
	for _, r := range []struct {
		label, nothing string
		of             func(*Figures) string
	}{
		{"steps", "", func(f *Figures) string { return strconv.Itoa(f.Steps) }},
		{"attempts at most", "", func(f *Figures) string { return strings.Join(attemptsOf(f.Worst), " + ") }},
		{"tokens at most", "0", func(f *Figures) string { return costOf(f.Worst, f.Worst.Tokens, "%.0f") }},
		{"dollars at most", "0", func(f *Figures) string { return costOf(f.Worst, f.Worst.CostUSD, "%.4g") }},
		{"budget", "none", func(f *Figures) string {
			if len(f.Budget) == 0 {
				return "none"
			}
			return strings.Join(f.Budget, ", ")
		}},
		{"longest chain", "0 steps", func(f *Figures) string {
			text := Count(len(f.Chain), "step")
			if len(f.Chain) > 1 {
				text += " (" + First(f.Chain, maxChain) + ")"
			}
			return text
		}},
	} {
		row, says := figure{label: r.label}, false
		if w.Before != nil {
			row.before = r.of(w.Before)
			says = row.before != r.nothing
		}
		if w.After != nil {
			row.after = r.of(w.After)
			says = says || row.after != r.nothing
		}
		if says {
			list = append(list, row)
		}
	}
	return list
}

// costOf is a worst case of tokens or dollars.
func costOf(w *outline.Worst, most *float64, form string) string {
	switch {
	case len(w.Silent) > 0:
		return "not known of " + First(w.Silent, 3)
	case most == nil:
		return "no known bound"
	}
	return fmt.Sprintf(form, *most)
}

// Markdown is the comparison for the summary of a job or a comment, in at most so many bytes.
func (c *PlanChanges) Markdown(most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### flowrun plan: %s\n\nCompared with %s.\n", c.verdict(), cell(c.Against))
	left := 0
	for i := range c.Programs {
		p := &c.Programs[i]
		if p.State == Unchanged {
			continue
		}
		if text := p.markdown(); left == 0 && b.Len()+len(text)+summaryTail <= most {
			b.WriteString(text)
			continue
		}
		left++
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n… and %s more.\n", Count(left, "program"))
	}
	return b.String()
}

func (p *ProgramChange) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n#### %s\n", strings.TrimSpace(cell(p.Path)+" "+cell(p.told())))
	listOf(&b, p.Declarations)
	for i := range p.Workflows {
		w := &p.Workflows[i]
		fmt.Fprintf(&b, "\n**workflow %s**%s\n", cell(w.Workflow), w.told())
		listOf(&b, w.changes())
		b.WriteString("\n| | before | after |\n|---|---|---|\n")
		for _, r := range w.rows() {
			after := cell(r.after)
			if w.Before != nil && w.After != nil && r.before != r.after {
				after = "**" + after + "**"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.label, cell(r.before), after)
		}
	}
	return b.String()
}

// listOf writes changes as a list of Markdown.
func listOf(b *strings.Builder, changes []ir.Change) {
	for i, x := range changes {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "- %s\n", cell(ChangeWords(x)))
	}
}
