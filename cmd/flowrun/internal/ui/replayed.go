package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/replay"
)

// Replayed is what a replay found. Its JSON is an interface.
type Replayed struct {
	Run      string       `json:"run"`
	Workflow string       `json:"workflow"`
	File     string       `json:"file,omitempty"` // "" means the run's own program
	Same     bool         `json:"same"`
	Events   uint64       `json:"events"`
	Status   event.Status `json:"status"` // as replayed
	Problem  string       `json:"problem,omitempty"`
	// Of a replay with another program.
	Differences []replay.Difference `json:"differences,omitempty"`
	New         []replay.Request    `json:"new,omitempty"`
	Changed     []replay.Request    `json:"changed,omitempty"`
}

// MaxOutputCells bounds the text that a state shows of an output, in cells.
const MaxOutputCells = 60

// ShowReplayed writes it as JSON or for people.
func ShowReplayed(t *Term, r *Replayed, asJSON bool) {
	if asJSON {
		_ = WriteJSON(t, r)
		return
	}
	who := fmt.Sprintf("run %s of %s", Clean(r.Run), Clean(r.Workflow))
	switch {
	case r.Problem != "":
		t.Printf("%s does not replay the same: %s\n", who, CleanLines(r.Problem))
		return
	case r.File == "":
		t.Printf("%s replays the same: %s, %s\n", who, Count(int(r.Events), "event"), Clean(string(r.Status)))
		return
	case r.Same:
		t.Printf("%s would have been the same with %s: %s, %s\n", who, Clean(r.File), Count(int(r.Events), "event"), Clean(string(r.Status)))
		return
	}
	t.Printf("%s would have been different with %s:\n", who, Clean(r.File))
	for i := range r.Differences {
		d := &r.Differences[i]
		node := Clean(d.Node)
		if node == "" {
			node = "the run"
		}
		t.Printf("  %s: %s → %s\n", node, stateWords(d.Was), nowWords(d))
	}
	requests(t, "The journal has no answer to these; nodes that wait for them are undecided:", r.New)
	requests(t, "These requests have other words; the recorded answers were used:", r.Changed)
}

func nowWords(d *replay.Difference) string {
	if !d.Open {
		return stateWords(d.Is)
	}
	if d.Node == "" || d.Is.Status == event.Pending {
		return "undecided"
	}
	return "undecided, running"
}

// stateWords is a state on one line.
func stateWords(s *replay.State) string {
	if s == nil {
		return "not there"
	}
	words := string(s.Status)
	if s.Tolerated {
		words += " (tolerated)"
	}
	if s.Attempts > 1 {
		words += ", " + Count(s.Attempts, "attempt")
	}
	if s.Output.Value != nil {
		words += ", output " + Truncate(Clean(string(value.Append(nil, s.Output.Value))), MaxOutputCells)
	}
	switch {
	case s.Error != nil:
		words += because(s.Error.Message)
	case s.Status == event.Skipped || s.Status == event.Blocked || s.Status == event.Cancelled:
		words += because(s.Reason)
	}
	return words
}

func requests(t *Term, title string, list []replay.Request) {
	if len(list) == 0 {
		return
	}
	t.Printf("%s\n", title)
	for i := range list {
		r := &list[i]
		s := "  " + Clean(r.Node) + ", "
		if r.Workflow != "" {
			s += "a run of " + Clean(r.Workflow)
		} else {
			s += attempt(r.Attempt, r.Gate, r.Compensate)
		}
		if r.Differs != nil {
			s += ": " + strings.Join(r.Differs, ", ")
		}
		t.Printf("%s\n", s)
	}
}
