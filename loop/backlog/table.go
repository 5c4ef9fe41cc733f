package backlog

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/text"
)

// maxColumns bounds a table. A wider one is not read.
const maxColumns = 64

// cell is a part of a line: the place of its trimmed text.
type cell struct{ start, end int }

// columns says which column of a table holds what; -1: none does.
type columns struct{ status, title, id, owner, priority, due, needs, tags int }

var columnNames = map[string][]string{
	"status":   {"status", "state", "progress", "done", "done?", "complete", "completed", "completed?", "stage", "✓", "✅", "☑"},
	"title":    {"task", "item", "title", "feature", "name", "what", "description", "story", "todo", "work", "issue", "summary", "milestone", "action", "deliverable", "component", "phase", "step"},
	"id":       {"id", "#", "key", "ticket", "no", "nr", "number", "ref"},
	"owner":    {"owner", "assignee", "who", "assigned", "assigned to", "responsible", "lead"},
	"priority": {"priority", "prio", "p", "importance"},
	"due":      {"due", "due date", "deadline", "date", "target", "eta", "target date", "by"},
	"needs":    {"depends on", "dependencies", "dependency", "depends", "blocked by", "needs", "after", "requires", "deps", "blockers", "prerequisites"},
	"tags":     {"tags", "labels", "tag", "label"},
}

// table reads a table, and reports whether the paragraph is one.
func (m *markdown) table(lines *text.Segments, parent int) bool {
	at := 0
	for ; at+1 < lines.Len(); at++ {
		if n := delimiters(m.value(lines.At(at + 1))); n > 0 && n == len(cells(m.value(lines.At(at)), 0)) {
			break
		}
	}
	if at+1 >= lines.Len() {
		return false
	}
	head := lines.At(at)
	var names []string
	for _, c := range cells(m.value(head), head.Start) {
		names = append(names, m.cellText(c).plain())
	}
	rows := make([][]cell, 0, lines.Len()-at-2)
	for i := at + 2; i < lines.Len(); i++ {
		s := lines.At(i)
		row := cells(m.value(s), s.Start)
		rows = append(rows, row[:min(len(row), len(names))])
	}
	m.tables++
	if m.board(names, rows, parent) {
		return true
	}
	c := findColumns(names)
	if c.status < 0 {
		c = boxColumn(c, names, rows, m.src)
	}
	place := m.place(said{})
	if c.title < 0 || place.silent || c.status < 0 && place.status == "" {
		return true
	}
	readable := c.status < 0
	for _, row := range rows {
		if c.status >= 0 && c.status < len(row) && row[c.status].end > row[c.status].start {
			if _, ok := readCell(m.cellText(row[c.status]).plain(), m.legend); ok {
				readable = true
			}
		}
	}
	if readable {
		for _, row := range rows {
			m.row(row, c, place, parent)
		}
	}
	return true
}

// board reads a table whose columns are statuses and whose cells are items.
func (m *markdown) board(names []string, rows [][]cell, parent int) bool {
	var statuses []Status
	for _, n := range names {
		s := readPhrase(n, m.legend)
		if !s.exact {
			return false
		}
		statuses = append(statuses, s.status)
	}
	if len(statuses) < 2 {
		return false
	}
	for _, row := range rows {
		for i, c := range row {
			f := m.inlineFacts(c)
			if f.title == "" {
				continue
			}
			f.status = statuses[i]
			m.add(nil, segments(c), parent, f, mark{})
		}
	}
	return true
}

func segments(c cell) *text.Segments {
	s := text.NewSegments()
	s.Append(text.NewSegment(c.start, c.end))
	return s
}

func (m *markdown) cellText(c cell) *flat {
	return m.inline(strings.ReplaceAll(m.joined(segments(c)), `\|`, "|"))
}

func (m *markdown) inlineFacts(c cell) facts {
	flat := m.cellText(c)
	f := m.facts(flat.text, flat)
	if flat.struckWhole && f.status == "" {
		f.status = Cancelled
	}
	return f
}

func (m *markdown) row(row []cell, c columns, place said, parent int) {
	get := func(i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return oneLine(m.cellText(row[i]).plain())
	}
	if c.title >= len(row) {
		return
	}
	f := m.inlineFacts(row[c.title])
	if f.title == "" {
		return
	}
	k := mark{}
	switch {
	case c.status < 0:
		if f.status == "" {
			f.status = place.status
		}
	default:
		status, ok := Todo, true
		if c.status < len(row) {
			status, ok = readCell(get(c.status), m.legend)
			k = mark{kind: cellMark, start: row[c.status].start, end: row[c.status].end, column: m.tables}
		}
		if !ok {
			status = Question
		}
		if status != Todo || f.status == "" {
			f.status = status
		}
	}
	s := &scan{facts: f, flat: &flat{}, today: m.d.opts.Today}
	if id := get(c.id); id != "" && id != "-" {
		s.id = bareID(id)
	}
	if o := strings.Trim(get(c.owner), "-–— "); o != "" {
		s.owner = strings.TrimPrefix(o, "@")
	}
	if p := get(c.priority); p != "" {
		bare, _ := splitEmoji(p)
		word, _, _ := strings.Cut(bare, " ")
		s.field("priority", word)
	}
	if d := get(c.due); d != "" && anyDate.Load().MatchString(d) {
		s.field("due", d)
	}
	if n := strings.Trim(get(c.needs), "-–— "); n != "" && !strings.EqualFold(n, "none") && !strings.EqualFold(n, "n/a") {
		s.addNeeds(n)
	}
	s.addTags(strings.Trim(get(c.tags), "-–— "))
	m.add(nil, segments(row[c.title]), parent, s.facts, k)
}

// findColumns finds the columns by their names. Without a known name for the title the first column that is nothing else has it,
// if there is a status.
func findColumns(names []string) columns {
	taken := map[int]bool{}
	find := func(kind string) int {
		for _, want := range columnNames[kind] {
			for i, have := range names {
				if !taken[i] && strings.Trim(strings.ToLower(have), " *:") == want {
					taken[i] = true
					return i
				}
			}
		}
		return -1
	}
	c := columns{status: find("status"), id: find("id"), owner: find("owner"), priority: find("priority"), due: find("due"), needs: find("needs"), tags: find("tags")}
	c.title = find("title")
	if c.title < 0 && c.status >= 0 {
		c.title = slices.IndexFunc(names, func(string) bool { return true })
		for c.title < len(names) && taken[c.title] {
			c.title++
		}
		if c.title == len(names) {
			c.title = c.id
			c.id = -1
		}
	}
	return c
}

// boxColumn finds a column without a name whose cells are boxes.
func boxColumn(c columns, names []string, rows [][]cell, src []byte) columns {
	for i, n := range names {
		boxes := len(rows) > 0 && strings.TrimSpace(n) == ""
		for _, row := range rows {
			if !boxes || i >= len(row) {
				boxes = false
				break
			}
			_, boxes = findBox(src[row[i].start:row[i].end])
		}
		if boxes {
			c.status = i
			if c.title < 0 {
				c.title = slices.IndexFunc(names, func(n string) bool { return strings.TrimSpace(n) != "" })
			}
			return c
		}
	}
	return c
}

// delimiters counts the columns of the line below the header of a table; 0 if it is not such a line.
func delimiters(line []byte) int {
	line = bytes.TrimSpace(line)
	if len(line) > 16*maxColumns || bytes.IndexByte(line, '-') < 0 || bytes.IndexByte(line, '|') < 0 || len(bytes.Trim(line, "|-: \t")) > 0 {
		return 0
	}
	row := cells(line, 0)
	for _, c := range row {
		if t := bytes.Trim(line[c.start:c.end], ":"); len(t) == 0 || len(bytes.Trim(t, "-")) > 0 {
			return 0
		}
	}
	if len(row) > maxColumns {
		return 0
	}
	return len(row)
}

// cells splits a line at its bars, but not at escaped ones and not in code.
func cells(line []byte, at int) (row []cell) {
	from, end := 0, len(bytes.TrimRight(line, " \t\r\n"))
	for from < end && (line[from] == ' ' || line[from] == '\t') {
		from++
	}
	if from < end && line[from] == '|' {
		from++
	}
	add := func(from, to int) {
		for from < to && (line[from] == ' ' || line[from] == '\t') {
			from++
		}
		for to > from && (line[to-1] == ' ' || line[to-1] == '\t') {
			to--
		}
		row = append(row, cell{at + from, at + to})
	}
	code := false
	for i := from; i < end && len(row) <= maxColumns; i++ {
		switch line[i] {
		case '\\':
			i++
		case '`':
			code = !code && bytes.IndexByte(line[i+1:end], '`') >= 0
		case '|':
			if !code {
				add(from, i)
				from = i + 1
			}
		}
	}
	if from < end {
		add(from, end)
	}
	return row
}

// validStart moves a place back to the start of a character.
func validStart(b []byte, at int) int {
	for at > 0 && at < len(b) && !utf8.RuneStart(b[at]) {
		at--
	}
	return at
}
