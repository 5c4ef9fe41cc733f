package backlog

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// Work gives the items of a document as a loop takes them: those that are todo, those that are closed, and those that are doing. claimed
// reports whether an agent has or had an item: somebody else does an item that is doing and was never claimed. Open items within an item
// come before it. source is the name of the source.
func (d *Document) Work(source string, claimed func(id string) bool) (out []event.Item) {
	children := map[string][]string{}
	for i := range d.Items {
		if it := &d.Items[i]; it.Parent != "" && !it.Status.Closed() {
			children[it.Parent] = append(children[it.Parent], it.ID)
		}
	}
	for i := range d.Items {
		it := &d.Items[i]
		e := event.Item{ID: it.ID, Source: source, Title: it.Title, Body: it.Body, Labels: it.Tags, Assignee: it.Owner, Capabilities: Capabilities(it.Tags), Needs: append(slices.Clip(it.Needs), children[it.ID]...),
			Data: map[string]any{"line": float64(it.Line), "section": it.Section, "due": it.Due}}
		if it.Priority != nil {
			e.Priority = *it.Priority
		}
		switch it.Status {
		case Done, Cancelled:
			e.Closed = true
		case Blocked, Deferred, Question:
			continue
		case Doing:
			if !claimed(it.ID) && e.Assignee == "" {
				e.Assignee = "somebody else"
			}
		case Todo:
		}
		out = append(out, e)
	}
	return out
}

// Capabilities are what labels ask for: "role: backend", "skill/go", "capability:gpu".
func Capabilities(labels []string) (out []string) {
	for _, l := range labels {
		for _, prefix := range []string{"capability", "skill", "role"} {
			if c, is := strings.CutPrefix(l, prefix); is && strings.IndexAny(c, ":/") == 0 && strings.TrimSpace(c[1:]) != "" {
				out = append(out, strings.TrimSpace(c[1:]))
			}
		}
	}
	return out
}
