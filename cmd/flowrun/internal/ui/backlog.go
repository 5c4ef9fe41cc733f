package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/loop/backlog"
)

// maxBacklogID bounds the column of ids.
const maxBacklogID = 20

// Backlog writes the items of a file as a table, a line for each; items that stand within others are indented.
func Backlog(t *Term, items []*backlog.Item) {
	if len(items) == 0 {
		return
	}
	id, depth := len("ID"), map[string]int{}
	for _, i := range items {
		id = max(id, min(maxBacklogID, Cells(Clean(i.ID))))
	}
	t.Printf("%s\n", t.Style(bold, fmt.Sprintf("%6s  %-*s  %-9s  %s", "LINE", id, "ID", "STATUS", "TITLE")))
	for _, i := range items {
		if i.Parent != "" {
			depth[i.ID] = depth[i.Parent] + 1
		}
		var notes []string
		add := func(name, text string) {
			if text != "" {
				notes = append(notes, name+Clean(text))
			}
		}
		if i.Priority != nil {
			add("priority ", fmt.Sprint(*i.Priority))
		}
		add("owner ", i.Owner)
		add("due ", i.Due)
		add("after ", strings.Join(i.Needs, ", "))
		add("#", strings.Join(i.Tags, " #"))
		note := ""
		if len(notes) > 0 {
			note = "  (" + strings.Join(notes, "; ") + ")"
		}
		name := Truncate(Clean(i.ID), maxBacklogID)
		t.Printf("%6d  %s%s  %-9s  %s%s%s\n", i.Line, name, strings.Repeat(" ", max(0, id-Cells(name))), i.Status,
			strings.Repeat("  ", depth[i.ID]), Clean(i.Title), note)
	}
}
