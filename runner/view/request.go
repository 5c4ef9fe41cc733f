package view

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// RequestDoc is what an attempt was asked to do, as programs read it. What is computed from secrets is not in it: Hidden names those
// parts. Cut names the parts that are longer than MaxAsked, of which the beginning is left, or nothing.
type RequestDoc struct {
	Kind     event.AttemptKind `json:"kind"`
	Agent    string            `json:"agent,omitempty"`
	Soul     string            `json:"soul,omitempty"`
	Task     string            `json:"task,omitempty"`
	With     *Data             `json:"with,omitempty"`
	Feedback string            `json:"feedback,omitempty"` // of the attempt or the round before
	Handoff  *event.Handoff    `json:"handoff,omitempty"`
	// Session is the session of the agent in which the attempt works.
	Session string `json:"session,omitempty"`
	// Command is the program with its arguments, the script, or the HTTP request; Values are those of the script, the i-th for $FLOWRUN_Vi.
	Command string   `json:"command,omitempty"`
	Values  []string `json:"values,omitempty"`
	Stdin   string   `json:"stdin,omitempty"`
	Dir     string   `json:"dir,omitempty"`
	Hidden  []string `json:"hidden,omitempty"`
	Cut     []string `json:"cut,omitempty"`
}

// MaxAsked bounds a part of a request, in bytes.
const MaxAsked = 16 << 10

// newRequest describes what an attempt is asked to do. It keeps no part of the attempt but short texts.
func newRequest(a *event.Attempt) *RequestDoc {
	d := &RequestDoc{Kind: a.Kind, Dir: a.Dir}
	short := func(name, text string) string {
		if len(text) <= MaxAsked {
			return text
		}
		if !slices.Contains(d.Cut, name) {
			d.Cut = append(d.Cut, name)
		}
		return strings.ToValidUTF8(strings.Clone(text[:MaxAsked]), "")
	}
	if g := a.Agent; g != nil {
		d.Agent, d.Handoff, d.Session = g.Name, g.Handoff, g.Session
		d.Soul, d.Task, d.Feedback = short("soul", g.Soul), short("task", g.Task), short("feedback", g.Feedback)
		if g.With != nil {
			d.With = &Data{g.With}
			if text, err := json.Marshal(d.With); err != nil || len(text) > MaxAsked {
				d.With, d.Cut = nil, append(d.Cut, "with")
			}
		}
	}
	d.Command = a.Script
	switch {
	case a.HTTP != nil:
		d.Command = a.HTTP.Method + " " + a.HTTP.URL
	case len(a.Argv) > 0:
		d.Command = strings.Join(a.Argv, " ")
	}
	d.Command = short("command", d.Command)
	if a.Stdin != nil {
		d.Stdin = short("stdin", *a.Stdin)
	}
	size := 0
	for _, v := range a.Values {
		if size += len(v); size > MaxAsked {
			d.Values, d.Cut = nil, append(d.Cut, "values")
			break
		}
		d.Values = append(d.Values, v)
	}
	for i := range a.Late {
		if what := a.Late[i].What; what != "" && !slices.Contains(d.Hidden, what) {
			d.Hidden = append(d.Hidden, what)
		}
	}
	return d
}

// asked notes what attempts of a node are asked to do, by their tickets.
type asked map[uint64]*RequestDoc

// enter notes in which session an attempt works.
func (a asked) enter(ticket uint64, session string) {
	if old := a[ticket]; old != nil {
		d := *old // a page may read the old one
		d.Session = session
		a[ticket] = &d
	}
}

// note takes in an attempt. Of more than twice what a story keeps, the first ones are forgotten.
func (a asked) note(x *event.Attempt) {
	a[x.Ticket] = newRequest(x)
	if len(a) > 2*MaxTries {
		first := x.Ticket
		for ticket := range a { // any order: the minimum
			first = min(first, ticket)
		}
		delete(a, first)
	}
}
