package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// Memory writes all of one entry, and the records that made it so.
func Memory(t *Term, i *entry.Item, history []entry.Record, now time.Time, asJSON bool) {
	if asJSON {
		if history == nil {
			history = []entry.Record{}
		}
		_ = WriteJSON(t, map[string]any{"entry": i.Document(), "history": history})
		return
	}
	width := t.bound()
	t.Printf("%s\n", title(t, Clean(i.ID), about(i, now), width))
	for _, f := range fieldsOf(i) {
		if f[1] != "" {
			t.Printf("  %-12s %s\n", f[0], wrapped(CleanLines(strings.TrimSpace(f[1])), width, strings.Repeat(" ", 15)))
		}
	}
	t.Printf("  history\n")
	for n := range history {
		if hidden := len(history) - FirstRecords - LastRecords; hidden > 0 && n >= FirstRecords && n < FirstRecords+hidden {
			if n == FirstRecords {
				t.Printf("    %s\n", wrapped("… "+Count(hidden, "record")+" more, which --json tells too", width, strings.Repeat(" ", 6)))
			}
			continue
		}
		t.Printf("    %s\n", wrapped(recordLine(i.ID, &history[n]), width, strings.Repeat(" ", 6)))
	}
}

// title is an entry's id, in bold as far as it stands in one line, and what is told beside it.
func title(t *Term, id, about string, width int) string {
	line := wrapped(id+"  "+about, width, "  ")
	if rest, whole := strings.CutPrefix(line, id); whole {
		return t.Style(bold, id) + rest
	}
	return line
}

// FirstRecords and LastRecords are how many of an entry's records a person is shown: how it came, and what happened lately. What is
// recalled into every task has one for each.
const (
	FirstRecords = 5
	LastRecords  = 25
)

// wrapped breaks the lines of a text at blanks for a width, with a prefix before all of them but the first, before which as
// much stands already. A width below 1 breaks nothing.
func wrapped(text string, width int, prefix string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if width > 0 {
			out = append(out, folded(line, max(width-len(prefix), 1), len(line)+1)...)
		} else {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n"+prefix)
}

// fieldsOf are the fields of an entry, in the order in which they are told.
func fieldsOf(i *entry.Item) [][2]string {
	last := ""
	if i.Count > 1 {
		last = i.Last.UTC().Format(time.RFC3339)
	}
	used := ""
	if i.Uses > 0 {
		used = Count(i.Uses, "time")
	}
	return [][2]string{
		{"text", i.Text}, {"lesson", i.Lesson}, {"observation", i.Observation}, {"context", i.Context},
		{"tags", strings.Join(i.Tags, ", ")}, {"importance", fmt.Sprintf("%.2g", i.Importance)},
		{"created", i.CreatedAt.UTC().Format(time.RFC3339)}, {"last seen", last}, {"recalled", used},
		{"seen by", seenBy(i.Scope)}, {"session", i.Session}, {"written by", ByWhom(i.By)},
		{"made from", strings.Join(i.DerivedFrom, ", ")}, {"near", strings.Join(i.Repeats, ", ")},
	}
}

// seenBy says who sees an entry of a scope.
func seenBy(s entry.Scope) string {
	kind, name, _ := strings.Cut(string(s), ":")
	switch {
	case s == entry.Shared:
		return "everybody"
	case kind == "group":
		return "who names the group " + name
	}
	return kind + " " + name
}

// ByWhom says where an entry or a change comes from.
func ByWhom(s entry.Source) string {
	author := strings.TrimPrefix(strings.TrimPrefix(s.Author, "user:"), "agent:")
	if strings.HasPrefix(s.Author, "agent:") {
		author = "agent " + author
	}
	var parts []string
	add := func(form, text string) {
		if text != "" {
			parts = append(parts, fmt.Sprintf(form, text))
		}
	}
	add("%s", author)
	add("in run %s", s.Run)
	add("step %s", s.Step)
	add("from %s", s.Source)
	switch s.Trust {
	case entry.Untrusted:
		parts = append(parts, "not trusted")
	case entry.ByRule:
		parts = append(parts, "by a rule")
	}
	return strings.Join(parts, ", ")
}

// recordLine is one record of an entry's history.
func recordLine(id string, r *entry.Record) string {
	line := r.At.UTC().Format(time.RFC3339) + " " + string(r.Op)
	switch {
	case r.Op == entry.Reword && r.Other == "":
		line += ": its first words remain"
	case r.Op == entry.Reword:
		line += fmt.Sprintf(": %q", flat(r.Other))
	case r.Other == id: // it is about others, with this one in their place
		line += " of " + strings.Join(r.IDs, ", ") + " by it"
	case r.Other != "":
		line += " by " + r.Other
	}
	if r.Op == entry.Promote {
		line += ": seen by " + seenBy(r.Scope)
	}
	if by := ByWhom(r.By); by != "" {
		line += " (" + by + ")"
	}
	if r.Reason != "" {
		line += ": " + r.Reason
	}
	return flat(line)
}
