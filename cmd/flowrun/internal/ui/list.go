package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Listed is a run in a listing.
type Listed struct {
	Run        string       `json:"run"`
	Workflow   string       `json:"workflow"`
	Status     event.Status `json:"status"`
	StartedAt  view.Moment  `json:"started_at"`
	FinishedAt view.Moment  `json:"finished_at"`
	// Driven tells that a process drives the run now, and Driver which. A run that has not ended and is not driven is interrupted.
	Driven bool `json:"driven"`
	Driver int  `json:"driver,omitempty"`
	// Stands is when the clock of an interrupted run stood still, and Begun are the attempts under way of one that is driven.
	Stands event.Time    `json:"-"`
	Begun  []*view.Begun `json:"-"`
	// Asks tells that a run which no process drives waits for people, who can answer now.
	Asks bool `json:"-"`
	// Failure is the first error of a run that failed, with the last line that its attempt wrote, as far as it is known.
	Failure string `json:"-"`
	// Reason says what a run waits for that is pending.
	Reason string `json:"reason,omitempty"`
	// Parent is the run that called this one, and ParentNode the path of its node that did.
	Parent     string `json:"parent,omitempty"`
	ParentNode string `json:"parent_node,omitempty"`
	// RetryOf is the run that this one repeats, and RetriedBy the newest that repeats this one.
	RetryOf   string `json:"retry_of,omitempty"`
	RetriedBy string `json:"retried_by,omitempty"`
}

// NewListed returns the row of a run. Stands and Begun, and the last line of an attempt in Failure, are left to the caller.
func NewListed(i *engine.Info) Listed {
	l := Listed{Run: i.Run, Workflow: i.Workflow, Status: i.Status, StartedAt: view.Moment(i.Created), FinishedAt: view.Moment(i.Ended),
		Driven: i.Driver != 0, Driver: i.Driver, Parent: i.Parent, ParentNode: i.ParentNode, RetryOf: i.RetryOf, RetriedBy: i.RetriedBy}
	if i.Turn != nil && i.Driver != 0 {
		l.Reason = i.Turn.String()
	}
	if e := i.Summary.Error; e != nil && i.Status == event.FailedS {
		l.Failure = e.Message
		if e.Node != "" {
			l.Failure = e.Node + ": " + e.Message
		}
	}
	return l
}

// word is the status where people look.
func (r *Listed) word() string {
	if !r.Status.Terminal() && r.Driver == 0 && !(r.Status == event.Waiting && r.Asks) {
		return view.Interrupted
	}
	return Clean(string(r.Status))
}

// below puts each run that was called under the one that called it, if that is listed, in the order of their starts. It gives
// the depth of each.
func below(runs []Listed) (sorted []Listed, depths []int) {
	listed, children := map[string]bool{}, map[string][]Listed{}
	for _, r := range runs {
		listed[r.Run] = true
	}
	for i := len(runs) - 1; i >= 0; i-- {
		children[runs[i].Parent] = append(children[runs[i].Parent], runs[i])
	}
	var add func(r Listed, depth int)
	add = func(r Listed, depth int) {
		sorted, depths = append(sorted, r), append(depths, depth)
		for _, c := range children[r.Run] {
			add(c, depth+1)
		}
	}
	for _, r := range runs {
		if r.Parent == "" || !listed[r.Parent] {
			add(r, 0)
		}
	}
	return sorted, depths
}

// statusCells is the width of the column of statuses.
const statusCells = len(view.Interrupted)

// underWay tells of the oldest attempt of a run, and how many there are.
func underWay(list []*view.Begun, now event.Time) string {
	if len(list) == 0 {
		return ""
	}
	b := list[0]
	text := "  " + Clean(b.Node) + " for " + Duration(max(0, now.Sub(b.StartedAt))) + lastWord(b)
	if more := len(list) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// List writes runs as a table, or as one JSON array. flags stand behind commands that it names, as in [Scene].
func List(t *Term, runs []Listed, now event.Time, flags string, asJSON bool) {
	if asJSON {
		if runs == nil {
			runs = []Listed{}
		}
		_ = WriteJSON(t, runs)
		return
	}
	name := len("WORKFLOW")
	runs, depths := below(runs)
	for i := range runs {
		name = max(name, 2*depths[i]+Cells(Clean(runs[i].Workflow)))
	}
	t.Printf("%s\n", t.Style(bold, fmt.Sprintf("%-12s  %-*s  %-*s  %8s  %s", "RUN", name, "WORKFLOW", statusCells, "STATUS", "TOOK", "STARTED")))
	for i, r := range runs {
		end := event.Time(r.FinishedAt)
		word, style := r.word(), statusStyle(r.Status)
		switch {
		case !r.Status.Terminal() && r.Driver == 0:
			end, style = max(r.Stands, event.Time(r.StartedAt)), yellow
		case end == 0:
			end = now
		}
		w := strings.Repeat("  ", depths[i]) + Clean(r.Workflow)
		note := ""
		switch {
		case r.Parent != "":
			note = "  called by " + Clean(r.ParentNode)
			if depths[i] == 0 {
				note += " of run " + Clean(r.Parent)
			}
		case word == view.Interrupted:
			note = "  continue with: flowrun resume " + Clean(r.Run) + flags
		case r.Asks:
			note = "  answer with: flowrun inbox" + flags
		}
		if r.Reason != "" {
			note += "  " + Clean(r.Reason)
		}
		if r.Failure != "" {
			note += "  " + Truncate(gist(r.Failure), MaxReason)
		}
		note += underWay(r.Begun, now)
		if r.RetryOf != "" {
			note += "  repeats " + Clean(r.RetryOf)
		}
		if r.RetriedBy != "" {
			note += "  repeated by " + Clean(r.RetriedBy)
		}
		t.Printf("%-12s  %s%s  %s%s  %8s  %s%s\n", Clean(r.Run), w, strings.Repeat(" ", name-Cells(w)),
			t.Style(style, word), strings.Repeat(" ", max(0, statusCells-len(word))),
			Duration(end.Sub(event.Time(r.StartedAt))), t.When(event.Time(r.StartedAt), now), note)
	}
}
