package backlog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Edit replaces the bytes from Start to End of a file.
type Edit struct {
	Start, End int
	Text       string
}

// Apply returns the changed bytes. The source is not changed.
func (e Edit) Apply(source []byte) []byte {
	out := make([]byte, 0, len(source)+len(e.Text))
	return append(append(append(out, source[:e.Start]...), e.Text...), source[e.End:]...)
}

// ErrNoMark says that the status of an item cannot be changed in the file: it follows from the place of the item, or from its text.
var ErrNoMark = errors.New("the status of the item does not follow from a mark")

// Find returns the index of the item with an id, or -1.
func (d *Document) Find(id string) int {
	for i := range d.Items {
		if d.Items[i].ID == id {
			return i
		}
	}
	return -1
}

// Mark gives the edit that gives the i-th item a status. All other items stay what they are. Nothing to do is an empty edit.
// The error wraps ErrNoMark.
func (d *Document) Mark(i int, s Status) (Edit, error) {
	if d.Items[i].Status == s {
		return Edit{}, nil
	}
	k := d.marks[i]
	e := Edit{Start: k.start, End: k.end}
	switch k.kind {
	case boxMark:
		e.Text = d.boxFor(s)
	case bulletMark:
		e.Text = "[" + boxOf[s] + "] "
	case emojiMark:
		e.Text = emojiOf[s]
	case wordMark:
		e.Text = keywordOf[s]
		if e.Text == "" {
			return Edit{}, fmt.Errorf("%w: outlines have no word for %s", ErrNoMark, s)
		}
	case cellMark:
		e.Text = d.cellFor(i, s)
	case fieldMark, absentField:
		return d.markField(i, s)
	default:
		return Edit{}, fmt.Errorf("line %d: %w", d.Items[i].Line, ErrNoMark)
	}
	if err := d.check(e, i, s); err != nil {
		return Edit{}, err
	}
	return e, nil
}

// boxFor is the character for a status: what the legend of the file says, or the usual one.
func (d *Document) boxFor(s Status) string {
	if d.legend["["+boxOf[s]+"]"] == s {
		return boxOf[s]
	}
	for _, mark := range slices.Sorted(maps.Keys(d.legend)) {
		if box, ok := strings.CutPrefix(mark, "["); ok && d.legend[mark] == s {
			return strings.TrimSuffix(box, "]")
		}
	}
	return boxOf[s]
}

// cellFor is the text of a cell for a status: what another row of the table has, or a word or an emoji as the cell has one.
func (d *Document) cellFor(i int, s Status) string {
	for j, other := range d.marks {
		if other.kind == cellMark && other.column == d.marks[i].column && d.Items[j].Status == s && other.end > other.start {
			return string(d.source[other.start:other.end])
		}
	}
	old := string(d.source[d.marks[i].start:d.marks[i].end])
	rest, emoji := splitEmoji(old)
	word := string(s)
	switch first, _ := utf8.DecodeRuneInString(rest); {
	case emoji != 0 && rest == "":
		return emojiOf[s]
	case unicode.IsUpper(first):
		word = strings.ToUpper(word[:1]) + word[1:]
	}
	if emoji != 0 {
		word = emojiOf[s] + " " + word
	}
	return word
}

// check reads the changed text: the i-th item must have the status, and nothing else may differ.
func (d *Document) check(e Edit, i int, s Status) error {
	after, err := Read(e.Apply(d.source), d.opts)
	if err != nil {
		return err
	}
	if len(after.Items) != len(d.Items) {
		return fmt.Errorf("line %d: %w: with another mark the file would have other items", d.Items[i].Line, ErrNoMark)
	}
	for j := range d.Items {
		want := d.Items[j]
		if j == i {
			want.Status = s
		}
		have := after.Items[j]
		have.Body, want.Body = "", ""
		if !reflect.DeepEqual(have, want) {
			return fmt.Errorf("line %d: %w: it follows from the text or from the heading", d.Items[i].Line, ErrNoMark)
		}
	}
	return nil
}

// New is an item that is added to a file.
type New struct {
	ID      string // "" = it comes from where the item stands, and from its title
	Title   string
	Section string // the heading below which it stands; "" = behind the last list, or at the end
	Tags    []string
}

// ErrNoSection says that a file has no heading with the text of New.Section.
var ErrNoSection = errors.New("the file has no such heading")

// Append gives the edit that adds an item with the status Todo, behind the last list of its section. All other items stay.
func (d *Document) Append(n New) (Edit, error) {
	title := oneLine(strings.ToValidUTF8(n.Title, "\ufffd"))
	switch {
	case title == "":
		return Edit{}, errors.New("the title of an item cannot be empty")
	case len(title) > MaxTitle/2:
		return Edit{}, fmt.Errorf("a title has at most %d bytes", MaxTitle/2)
	}
	if d.jsonl {
		return d.appendLine(n, title)
	}
	at := list{end: len(d.source), indent: "- ", empty: true}
	found := false
	for _, l := range d.lists {
		if n.Section == "" && !l.empty || n.Section != "" && strings.EqualFold(l.section, n.Section) && (!found || !l.empty) {
			at, found = l, true
		}
	}
	if n.Section != "" && !found {
		return Edit{}, fmt.Errorf("%w: %s", ErrNoSection, n.Section)
	}
	newline := "\n"
	if bytes.Contains(d.source, []byte("\r\n")) {
		newline = "\r\n"
	}
	var err error
	for _, text := range []string{title, escape(title)} {
		for _, t := range n.Tags {
			text += " #" + t
		}
		if n.ID != "" {
			text += " (id: " + n.ID + ")"
		}
		line := at.indent + "[ ] " + text + newline
		if at.end > 0 && d.source[at.end-1] != '\n' {
			line = newline + line
		}
		if at.empty && len(d.source) > 0 {
			line = newline + line
			if at.end < len(d.source) && !bytes.HasPrefix(bytes.TrimLeft(d.source[at.end:], " \t\r"), []byte("\n")) {
				line += newline
			}
		}
		e := Edit{Start: at.end, End: at.end, Text: line}
		if err = d.checkAppended(e, title); err == nil {
			return e, nil
		}
	}
	return Edit{}, err
}

// escape keeps a title from being read as anything else.
func escape(title string) string {
	var b strings.Builder
	for _, r := range title {
		if strings.ContainsRune("\\`*_{}[]()#+!<>~|@^&:=", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (d *Document) checkAppended(e Edit, title string) error {
	after, err := Read(e.Apply(d.source), d.opts)
	if err != nil {
		return err
	}
	added := 0
	if len(after.Items) != len(d.Items)+1 {
		return errors.New("with the new line the file would have other items")
	}
	for j := range after.Items {
		have := after.Items[j]
		if added == 0 && (j == len(d.Items) || have.Line != d.Items[j].Line || have.Title != d.Items[j].Title) {
			if have.Title != title || have.Status != Todo {
				return fmt.Errorf("the new line would be read as %q", have.Title)
			}
			added = 1
			continue
		}
		want := d.Items[j-added]
		have.Line, want.Line, have.Body, want.Body = 0, 0, "", ""
		if !reflect.DeepEqual(have, want) {
			return errors.New("with the new line the file would have other items")
		}
	}
	return nil
}
