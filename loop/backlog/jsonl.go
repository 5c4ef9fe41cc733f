package backlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The names of fields that are read, the first that an object has.
var (
	titleFields  = []string{"title", "task", "name", "summary", "text", "content"}
	statusFields = []string{"status", "state", "done", "completed"}
	ownerFields  = []string{"owner", "assignee", "assigned_to"}
	dueFields    = []string{"due", "due_date", "deadline"}
	needsFields  = []string{"depends_on", "needs", "deps", "dependencies", "blocked_by", "after"}
	tagsFields   = []string{"tags", "labels"}
	bodyFields   = []string{"body", "description", "notes"}
)

// span is the value of a field: its bytes, and where they are in the file.
type span struct {
	raw        json.RawMessage
	start, end int
}

// readJSONL reads an object from each line that is not blank. Its other fields are left alone.
func (d *Document) readJSONL() error {
	drafts, parents := []draft(nil), []string(nil)
	start, number0 := 0, 0
	for start < len(d.source) {
		end := len(d.source)
		if i := bytes.IndexByte(d.source[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		number0++
		line, at := d.source[start:end], start
		start = end
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		fields, closing, err := readObject(line, at)
		if err != nil {
			return fmt.Errorf("line %d: %w", number0, err)
		}
		dr, parent := readFields(fields, d.opts)
		if dr.item.Title == "" {
			continue
		}
		if dr.mark.kind == absentField {
			dr.mark.start, dr.mark.end = closing, closing
		}
		dr.item.Line = number0
		drafts, parents = append(drafts, dr), append(parents, parent)
	}
	m := markdown{d: d, drafts: drafts}
	m.finish()
	for i, p := range parents {
		d.Items[i].Parent = p
	}
	return nil
}

var errNotObject = errors.New("the line is not a JSON object")

// readObject gives the fields of an object, and the place of its closing brace. Of a name that comes twice the last value counts.
func readObject(line []byte, at int) (map[string]span, int, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, 0, errNotObject
	}
	fields := map[string]span{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %w", errNotObject, err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, 0, fmt.Errorf("%w: %w", errNotObject, err)
		}
		end := int(dec.InputOffset())
		fields[key.(string)] = span{raw: raw, start: at + end - len(raw), end: at + end}
	}
	if _, err := dec.Token(); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errNotObject, err)
	}
	closing := int(dec.InputOffset())
	if len(bytes.TrimSpace(line[closing:])) > 0 {
		return nil, 0, fmt.Errorf("%w: more follows", errNotObject)
	}
	return fields, at + closing - 1, nil
}

func readFields(fields map[string]span, o Options) (draft, string) {
	find := func(names ...string) (span, string) {
		for _, n := range names {
			if s, ok := fields[n]; ok {
				return s, n
			}
		}
		return span{}, ""
	}
	texts := func(names ...string) []string {
		s, _ := find(names...)
		return textsOf(s.raw)
	}
	text := func(names ...string) string {
		if t := texts(names...); len(t) > 0 {
			return strings.TrimSpace(t[0])
		}
		return ""
	}
	s := &scan{flat: &flat{}, today: o.Today}
	s.title = oneLine(text(titleFields...))
	s.title = strings.ToValidUTF8(s.title[:validStart([]byte(s.title), min(len(s.title), MaxTitle))], "")
	s.id = bareID(text("id", "key"))
	s.owner = strings.TrimPrefix(text(ownerFields...), "@")
	if due := text(dueFields...); len(due) >= 10 {
		s.due = readDate(due[:10], o.Today)
	}
	if p, _ := find("priority", "prio"); p.raw != nil {
		var n float64
		if json.Unmarshal(p.raw, &n) == nil && n == float64(int(n)) {
			whole := int(n)
			s.priority = &whole
		} else {
			s.field("priority", text("priority", "prio"))
		}
	}
	for _, n := range texts(needsFields...) {
		s.addNeed(n)
	}
	s.addTags(strings.Join(texts(tagsFields...), ","))
	raw, name := find(statusFields...)
	dr := draft{parent: -1, mark: mark{kind: absentField}}
	s.status = Todo
	if name != "" {
		dr.mark = mark{kind: fieldMark, start: raw.start, end: raw.end, field: name}
		switch word := strings.TrimSpace(string(raw.raw)); {
		case word == "true":
			s.status = Done
		case word == "false" || word == "null":
		default:
			var ok bool
			if s.status, ok = readCell(strings.ReplaceAll(text(name), "_", " "), nil); !ok {
				s.status = Question
			}
		}
	}
	dr.needs, dr.item = s.needs, s.item()
	dr.item.Section = text("section", "epic", "milestone")
	dr.item.Body = text(bodyFields...)
	dr.item.Body = strings.ToValidUTF8(dr.item.Body[:min(len(dr.item.Body), MaxBody)], "")
	dr.path = dr.item.Section + "\x00" + dr.item.Title
	return dr, bareID(text("parent", "parent_id"))
}

// textsOf reads a text, a number, or a list of them; of the objects in a list it takes what names another item.
func textsOf(raw json.RawMessage) (out []string) {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			out = append(out, s)
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, one := range list {
				if len(one) > 0 && one[0] != '[' {
					out = append(out, textsOf(one)...)
				}
			}
		}
	case '{':
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) == nil {
			for _, name := range []string{"depends_on_id", "id", "name", "login"} {
				if v, ok := o[name]; ok {
					return textsOf(v)
				}
			}
		}
	default:
		if word := strings.TrimSpace(string(raw)); word != "null" && word != "true" && word != "false" {
			out = append(out, word)
		}
	}
	return out
}

// markField gives the edit of the field of the status.
func (d *Document) markField(i int, s Status) (Edit, error) {
	k := d.marks[i]
	e := Edit{Start: k.start, End: k.end}
	switch old := string(d.source[k.start:k.end]); {
	case k.kind == absentField:
		line := d.source[bytes.LastIndexByte(d.source[:k.start], '\n')+1 : k.start]
		e.Text = `,"status":"` + string(s) + `"`
		if bytes.Contains(line, []byte(`": `)) {
			e.Text = `, "status": "` + string(s) + `"`
		}
		for e.Start > 0 && strings.IndexByte(" \t", d.source[e.Start-1]) >= 0 {
			e.Start, e.End = e.Start-1, e.End-1
		}
	case old == "true" || old == "false":
		e.Text = strconv.FormatBool(s == Done)
		if s != Done && s != Todo {
			return Edit{}, fmt.Errorf("line %d: %w: the field %s is true or false", d.Items[i].Line, ErrNoMark, k.field)
		}
	default:
		e.Text = `"` + string(s) + `"`
		for j, other := range d.marks {
			if other.kind == fieldMark && other.field == k.field && d.Items[j].Status == s && d.source[other.start] == '"' {
				e.Text = string(d.source[other.start:other.end])
				break
			}
		}
	}
	if err := d.check(e, i, s); err != nil {
		return Edit{}, err
	}
	return e, nil
}

// appendLine gives the edit that adds an object behind the last line.
func (d *Document) appendLine(n New, title string) (Edit, error) {
	line, err := json.Marshal(struct {
		ID      string   `json:"id,omitempty"`
		Title   string   `json:"title"`
		Status  Status   `json:"status"`
		Section string   `json:"section,omitempty"`
		Tags    []string `json:"tags,omitempty"`
	}{n.ID, title, Todo, n.Section, n.Tags})
	if err != nil {
		return Edit{}, err
	}
	e := Edit{Start: len(d.source), End: len(d.source), Text: string(line) + "\n"}
	if len(d.source) > 0 && d.source[len(d.source)-1] != '\n' {
		e.Text = "\n" + e.Text
	}
	return e, d.checkAppended(e, title)
}
