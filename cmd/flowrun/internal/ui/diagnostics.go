package ui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/diag"
)

// Bounds of what is shown of a file's problems.
const (
	MaxShown     = 20  // diagnostics; the rest is counted
	SnippetCells = 120 // columns of a source line; a longer line is cut around the caret
)

// Sources are the bytes of the files that ranges point into, by the name that ranges give.
type Sources map[string][]byte

// Diagnostics writes a list as text: sorted, errors first where not all can be shown, at most [MaxShown].
func Diagnostics(t *Term, list diag.List, sources Sources) {
	shown := worst(list.Sort(), MaxShown)
	for i := range shown {
		if i > 0 {
			t.Printf("\n")
		}
		t.Printf("%s", diagnostic(t, &shown[i], sources))
	}
	if more := len(list) - len(shown); more > 0 {
		t.Printf("\n… and %d more.\n", more)
	}
}

// worst returns the first n of a sorted list, errors before all else, in their order.
func worst(list diag.List, n int) diag.List {
	if len(list) <= n {
		return list
	}
	var out, mild diag.List
	for _, d := range list {
		if d.Severity == diag.Error {
			out = append(out, d)
		} else {
			mild = append(mild, d)
		}
	}
	return append(out, mild...)[:n]
}

func diagnostic(t *Term, d *diag.Diagnostic, sources Sources) string {
	var b strings.Builder
	title, style := "Error", red
	switch d.Severity {
	case diag.Warning:
		title, style = "Warning", yellow
	case diag.Advice:
		title, style = "Advice", cyan
	}
	code := ""
	if d.Code != "" {
		code = " (" + d.Code + ")"
	}
	width := t.messageWidth()
	for i, l := range wrap(title+": "+Clean(d.Summary)+code, "", "  ", width) {
		if i == 0 {
			l = t.Style(bold+";"+style, title+":") + t.Style(bold, strings.TrimPrefix(l, title+":"))
		} else {
			l = t.Style(bold, l)
		}
		fmt.Fprintf(&b, "%s\n", l)
	}
	if d.Subject.Set() {
		where := Clean(d.Subject.String())
		if d.Context != "" {
			where += ", in " + Clean(d.Context)
		}
		fmt.Fprintf(&b, "\n%s", place(t, where, style, d.Subject, sources))
	} else if file := d.Subject.File; file != "" && !strings.Contains(d.Summary, file) { // the file as a whole
		fmt.Fprintf(&b, "\n  %s\n", Clean(file))
	}
	if d.Detail != "" {
		if d.Subject.File == "" || !d.Subject.Set() && strings.Contains(d.Summary, d.Subject.File) {
			b.WriteByte('\n')
		}
		for _, l := range strings.Split(CleanLines(strings.TrimRight(d.Detail, "\n")), "\n") {
			blanks := l[:len(l)-len(strings.TrimLeft(l, " "))]
			fmt.Fprintf(&b, "%s\n", strings.Join(wrap(l[len(blanks):], blanks, blanks, width), "\n"))
		}
	}
	for _, n := range d.Notes {
		if !n.Range.Set() {
			fmt.Fprintf(&b, "\n%s\n", strings.Join(wrap(Clean(n.Text), "  ", "  ", width), "\n"))
			continue
		}
		fmt.Fprintf(&b, "\n%s", place(t, Clean(n.Range.String())+", "+Clean(n.Text), cyan, n.Range, sources))
	}
	return b.String()
}

// place writes where something stands, and the source line with its carets where the source is at hand.
func place(t *Term, where, style string, r diag.Range, sources Sources) string {
	width := t.messageWidth()
	s, ok := snip(sources[r.File], r)
	if !ok {
		return strings.Join(wrap(where, "  ", "    ", width), "\n") + "\n"
	}
	number := fmt.Sprintf("  %d: ", r.Start.Line)
	most := SnippetCells
	if width > 0 {
		most = min(most, width-len(number)-1)
	}
	s = s.cut(most)
	where = strings.Join(wrap(where+":", "  ", "    ", width), "\n")
	carets := strings.Repeat("^", s.carets)
	return fmt.Sprintf("%s\n%s%s\n%s%s\n", where, t.Style(dim, number), s.text,
		strings.Repeat(" ", len(number)+s.before), t.Style(bold+";"+style, carets))
}

// snippet is a source line made ready: what is shown, the cells before the carets, and how many carets there are.
type snippet struct {
	text           string
	before, carets int
}

// snip cuts the first line of a range out of its file. ok is false where the file does not have it.
func snip(src []byte, r diag.Range) (s snippet, ok bool) {
	line, start := lineAt(src, r.Start.Byte)
	if src == nil || start < 0 {
		return s, false
	}
	from := min(r.Start.Byte-start, len(line))
	to := max(from, min(r.End.Byte-start, len(line)))
	head := show(line[:from], 0)
	mark := show(line[from:to], Cells(head))
	tail := show(line[to:], Cells(head)+Cells(mark))
	s = snippet{before: Cells(head), carets: max(1, Cells(mark))}
	s.text = strings.TrimRight(head+mark+tail, " ")
	return s, true
}

// lineAt returns the line that holds a byte, with the passwords of URLs hidden, and where it starts; -1 where the byte is not in
// src.
func lineAt(src []byte, at int) (string, int) {
	if at < 0 || at > len(src) {
		return "", -1
	}
	start := strings.LastIndexByte(string(src[max(0, at-64<<10):at]), '\n') + 1 + max(0, at-64<<10)
	end := start
	for end < len(src) && src[end] != '\n' {
		end++
	}
	return diag.HideUserinfo(strings.TrimSuffix(string(src[start:end]), "\r")), start
}

// show makes a piece of a line visible; column is where it starts, for its tabs.
func show(piece string, column int) string {
	var b strings.Builder
	for piece != "" {
		r, size := utf8.DecodeRuneInString(piece)
		c := Clean(piece[:size])
		piece = piece[size:]
		if r == '\t' {
			n := TabStop - column%TabStop
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		}
		b.WriteString(c)
		column += Cells(c)
	}
	return b.String()
}

// cut shortens a line that is longer than most columns so that the carets stay in sight.
func (s snippet) cut(most int) snippet {
	if Cells(s.text) <= most {
		return s
	}
	left := 0
	if s.before > most/2 {
		left = s.before - most/3
	}
	var b strings.Builder
	column, first := 0, -1
	for _, r := range s.text {
		if column >= left+most-1 {
			b.WriteRune('…')
			break
		}
		if column >= left {
			if first < 0 {
				first = column
			}
			b.WriteRune(r)
		}
		column += runeCells(r)
	}
	s.text, s.before = b.String(), s.before-max(first, 0)
	if left > 0 {
		s.text, s.before = "…"+s.text, s.before+1
	}
	s.carets = max(1, min(s.carets, most-s.before))
	return s
}
