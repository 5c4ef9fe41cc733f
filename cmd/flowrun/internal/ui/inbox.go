package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Ask is what waits for people, as inbox --json shows it.
type Ask struct {
	Kind      string      `json:"kind"`
	Run       string      `json:"run"`
	Workflow  string      `json:"workflow"`
	Node      string      `json:"node"` // the path; "." for the run itself
	Words     []string    `json:"words"`
	Since     time.Time   `json:"since"`
	Until     *time.Time  `json:"until"`
	Prompt    string      `json:"prompt"`
	Show      value.Value `json:"show"`
	Shown     string      `json:"shown"`
	Approvers []string    `json:"approvers"`
	Quorum    int         `json:"quorum"`
	Votes     []struct {
		By   string    `json:"by"`
		Word string    `json:"word"`
		At   time.Time `json:"at"`
	} `json:"votes"`
	Agent string `json:"agent,omitempty"`
	Top   string `json:"-"` // the run that calls this one, at the top
	Name  string `json:"name"`
	Plain string `json:"plain"`
	// Decide is the command that answers, in which the person chooses one of the words, or the command that tells the run that the time is over.
	Decide string `json:"decide,omitempty"`
	// Inputs are what an approval asks for; none where the definition of the run could not be read.
	Inputs []AskInput `json:"inputs,omitempty"`
}

// AskInput is an input of an approval.
type AskInput struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"` // it has no default
}

// AskInputs lists inputs of an approval, in the order of the file.
func AskInputs(of []ir.Variable) (list []AskInput) {
	for i := range of {
		list = append(list, AskInput{of[i].Name, of[i].Type.String(), !of[i].HasDefault})
	}
	return list
}

// ReadAsks reads the list that a store gives.
func ReadAsks(v value.Value) (asks []Ask, err error) {
	asks = []Ask{}
	err = json.Unmarshal(value.Append(nil, v), &asks)
	return asks, err
}

// maxShownLines bounds the lines of a value that the inbox shows.
const maxShownLines = 20

// Inbox writes what waits for people, each with the command that answers. flags stand behind the commands.
func Inbox(t *Term, asks []Ask, flags string, now time.Time) {
	for i := range asks {
		a := &asks[i]
		if i > 0 {
			t.Printf("\n")
		}
		head := fmt.Sprintf("%s of run %s (%s), %s", Clean(a.Node), Clean(a.Run), Clean(a.Workflow), Ago(a.Since, now))
		if a.Until != nil {
			head += ", until " + t.Clock(event.At(*a.Until))
		}
		if a.Over(now) {
			head += ", which is over"
		}
		t.Printf("%s\n", t.Style(bold, head))
		t.Printf("  %s\n", strings.ReplaceAll(CleanLines(strings.TrimSpace(a.Prompt)), "\n", "\n  "))
		for _, line := range shownLines(a.Show) {
			t.Printf("    %s\n", Clean(line))
		}
		if who := a.who(); who != "" {
			t.Printf("  %s\n", who)
		}
		if with := a.with(); with != "" && !a.Over(now) {
			t.Printf("  %s\n", with)
		}
		t.Printf("  %s\n", a.Line(flags, now))
	}
}

// with says which inputs go with an approval: first those that it needs.
func (a *Ask) with() string {
	var needs, may []string
	for _, in := range a.Inputs {
		flag := fmt.Sprintf("--input %s=VALUE (%s)", Clean(in.Name), Clean(in.Type))
		if in.Required {
			needs = append(needs, flag)
		} else {
			may = append(may, flag)
		}
	}
	var parts []string
	if needs != nil {
		parts = append(parts, "needs "+strings.Join(needs, " "))
	}
	if may != nil {
		parts = append(parts, "can have "+strings.Join(may, " "))
	}
	if parts == nil {
		return ""
	}
	return string(event.WordApprove) + " " + strings.Join(parts, ", and ")
}

// Over reports whether the time of an ask is over, which no process has told the run yet.
func (a *Ask) Over(now time.Time) bool { return a.Until != nil && !a.Until.After(now) }

// Line is the command that answers; once the time is over, the command that tells the run so.
func (a *Ask) Line(flags string, now time.Time) string {
	if a.Over(now) {
		return "flowrun resume " + Clean(cmp.Or(a.Top, a.Run)) + flags
	}
	return strings.TrimSpace(a.Command(flags))
}

// Command is the line that answers, in which the person chooses one of the words.
func (a *Ask) Command(flags string) string {
	return fmt.Sprintf("  flowrun decide %s %s %s --shown %s%s", Clean(a.Run), Quote(a.Node), Clean(strings.Join(a.Words, "|")), Clean(a.Shown), flags)
}

// shownLines are the lines of a value: a text as it is, anything else as JSON.
func shownLines(v value.Value) []string {
	text, is := v.(string)
	if v == nil {
		return nil
	}
	if !is {
		if b, err := json.MarshalIndent(v, "", "  "); err == nil {
			text = string(b)
		}
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > maxShownLines {
		left := len(lines) - maxShownLines
		lines = append(lines[:maxShownLines:maxShownLines], fmt.Sprintf("… and %d more lines (flowrun inbox --json)", left))
	}
	return lines
}

// who says who may answer and who has, where that is more than anybody and nobody.
func (a *Ask) who() string {
	var parts []string
	if a.Agent != "" {
		parts = append(parts, "a task for "+a.Agent)
	}
	switch {
	case len(a.Approvers) > 0 && a.Quorum > 1:
		parts = append(parts, fmt.Sprintf("%d of %s", a.Quorum, strings.Join(a.Approvers, ", ")))
	case len(a.Approvers) > 0:
		parts = append(parts, strings.Join(a.Approvers, " or "))
	case a.Quorum > 1:
		parts = append(parts, fmt.Sprintf("%d people", a.Quorum))
	}
	for _, v := range a.Votes {
		parts = append(parts, v.By+" "+event.Word(v.Word).Past()+" it")
	}
	return Clean(strings.Join(parts, "; "))
}
