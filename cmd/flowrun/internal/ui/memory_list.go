package ui

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// leastText is how many columns a table of entries leaves for their texts; on a screen where it cannot, an entry takes two lines.
const leastText = 28

// Memories writes entries as a table, or as one JSON array.
func Memories(t *Term, items []entry.Item, now time.Time, asJSON bool) {
	if asJSON {
		list := make([]entry.Document, len(items))
		for i := range items {
			list[i] = items[i].Document()
		}
		_ = WriteJSON(t, list)
		return
	}
	table, width := columnsOf(items, now), t.bound()
	lead := 0
	for _, w := range table.widths {
		lead += w + 2
	}
	if width > 0 && width-lead < leastText {
		for i := range items {
			t.Printf("%s\n  %s\n", t.Style(bold, cut(Clean(items[i].ID)+"  "+about(&items[i], now), width)), cut(inShort(&items[i]), width-2))
		}
		return
	}
	for i, row := range table.rows {
		line, text := "", "TEXT"
		for c, cell := range row {
			line += cell + strings.Repeat(" ", table.widths[c]-Cells(cell)+2)
		}
		if i > 0 {
			text = inShort(&items[i-1])
		}
		room := ListedCells
		if width > 0 {
			room = width - lead
		}
		line += Truncate(text, room)
		if i == 0 {
			line = t.Style(bold, line)
		}
		t.Printf("%s\n", line)
	}
}

// columns are the cells of a table before its texts, the first row being the heads.
type columns struct {
	rows   [][4]string
	widths [4]int
}

func columnsOf(items []entry.Item, now time.Time) columns {
	c := columns{rows: [][4]string{{"ID", "AGE", "TYPE", "AGENT"}}}
	for i := range items {
		item := &items[i]
		kind, agent := string(item.Kind()), item.Agent
		if agent == "" {
			agent = "-"
		}
		c.rows = append(c.rows, [4]string{Clean(item.ID), strings.TrimSuffix(Ago(item.CreatedAt, now), " ago"), Clean(kind), Clean(agent)})
	}
	for _, row := range c.rows {
		for i, cell := range row {
			c.widths[i] = max(c.widths[i], Cells(cell))
		}
	}
	return c
}

// InShort is inShort, cut at so many columns.
func InShort(i *entry.Item, columns int) string { return cut(inShort(i), columns) }

// inShort is what an entry says in one line, behind what is not usual of it. A pattern says its count at length before what
// it has to say, and that would be cut off.
func inShort(i *entry.Item) string {
	m := marks(i)
	text := ""
	for _, s := range []string{i.Lesson, i.Text, i.Observation, i.Context} {
		if text = flat(s); text != "" {
			break
		}
	}
	if head, rest, ok := strings.Cut(text, ": "); ok && i.Type == entry.Pattern && strings.HasPrefix(head, "Seen ") {
		times, _, _ := strings.Cut(head, ",")
		times, _, _ = strings.Cut(times, " (")
		m, text = append(m, "seen "+strings.TrimPrefix(times, "Seen ")), rest
	}
	if len(m) > 0 {
		text = strings.TrimSpace("[" + Clean(strings.Join(m, ", ")) + "] " + text)
	}
	return text
}
