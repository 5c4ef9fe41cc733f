package ui

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// Widths of prose, in columns.
const (
	PipedColumns = 100 // where there is no terminal
	LeastColumns = 40  // of a terminal that is narrower
	MostColumns  = 120 // of a terminal that is wider: longer lines are hard to read
	leastCell    = 24  // of a column of a table; a table with less is written as a list
)

// Width is how many columns pages and help take.
func (t *Term) Width() int {
	if t.fd < 0 && !t.Live {
		return PipedColumns
	}
	columns, _ := t.Size()
	return min(max(columns, LeastColumns), MostColumns)
}

// messageWidth is how many columns a diagnostic takes. 0 means that its lines are not broken: programs and tests read them.
func (t *Term) messageWidth() int {
	if t.fd < 0 && !t.Live {
		return 0
	}
	return t.Width()
}

// pieces are the words of a text with marks of Markdown. Strong words and code stay whole.
var pieces = lazyregexp.New("(?:\\*\\*[^*]+\\*\\*|`[^`]+`|[^ `*]|[`*])+|  +")

// unmarked is the text without the marks that spans takes away.
func unmarked(s string) string {
	s = strong().ReplaceAllString(s, "$1")
	return verbatim().ReplaceAllString(s, "$1")
}

// wrap breaks a text at blanks into lines of at most width columns. first is put before the first line, and rest before the others. A
// word that is longer than a line is not broken. Blanks between words stay as they are within a line. width 0 means one line.
func wrap(text, first, rest string, width int) []string {
	return wrapWords(strings.Split(text, " "), first, rest, width, Cells)
}

// wrapMarked is wrap for a text with marks, which take no columns.
func wrapMarked(text, first, rest string, width int) []string {
	var words []string
	for _, w := range pieces().FindAllString(text, -1) {
		switch {
		case strings.HasPrefix(w, "  "):
			words = append(words, make([]string, len(w)-1)...)
		case Cells(unmarked(w)) > width-Cells(rest): // code that is longer than a line
			words = append(words, strings.Split(unmarked(w), " ")...)
		default:
			words = append(words, w)
		}
	}
	return wrapWords(words, first, rest, width, func(s string) int { return Cells(unmarked(s)) })
}

// wrapWords joins words by single blanks; an empty word is one more blank.
func wrapWords(words []string, first, rest string, width int, cells func(string) int) (lines []string) {
	line, begun := first, false
	for _, w := range words {
		if begun && width > 0 && w != "" && cells(line)+1+cells(w) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line, begun = rest, false
		}
		if begun {
			line += " "
		} else if w == "" && len(lines) > 0 {
			continue // no blanks at the beginning of a line
		}
		line, begun = line+w, true
	}
	return append(lines, strings.TrimRight(line, " "))
}

// broken breaks the lines of a text, which may have colours, at the width of the terminal. rest is put before each line that continues another.
func (t *Term) broken(text, rest string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, wrapWords(strings.Split(line, " "), "", rest, t.bound(), func(s string) int { return Cells(unstyled(s)) })...)
	}
	return strings.Join(out, "\n")
}

// gap ends the first column of a line of two columns, as help has them.
var gap = lazyregexp.New(`\S(  +)\S`)

// Fit breaks the lines of a help text at width. Lines without blanks before them are paragraphs, which are filled. The second column of an
// indented line goes on under itself.
func Fit(text string, width int) string {
	var out, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			out = append(out, wrap(strings.Join(paragraph, " "), "", "", width)...)
			paragraph = nil
		}
	}
	for _, l := range strings.Split(text, "\n") {
		l = strings.TrimRight(l, " ")
		indent := len(l) - len(strings.TrimLeft(l, " "))
		if l != "" && indent == 0 && !strings.HasSuffix(l, ":") {
			paragraph = append(paragraph, l)
			continue
		}
		if indent == 0 && l != "" { // the last line of a paragraph, or a heading
			paragraph, l = append(paragraph, l), ""
			flush()
			continue
		}
		flush()
		if l == "" || Cells(l) <= width {
			out = append(out, l)
			continue
		}
		out = append(out, hang(l, indent, width)...)
	}
	flush()
	return strings.Join(out, "\n")
}

// hang breaks an indented line. Where it has a second column that is wide enough, its lines begin there; else they are indented by four more.
func hang(l string, indent, width int) []string {
	at := gap().FindStringIndex(l[indent:])
	if at == nil {
		return wrap(l[indent:], l[:indent], strings.Repeat(" ", indent+4), width)
	}
	column := indent + at[1] - 1
	if cells := Cells(l[:column]); width-cells >= leastCell {
		return wrap(l[column:], l[:column], strings.Repeat(" ", cells), width)
	}
	under := strings.Repeat(" ", indent+4)
	return append(wrap(strings.TrimSpace(l[:column]), l[:indent], under, width), wrap(l[column:], under+"  ", under+"  ", width)...)
}

// tableLines lays out the rows of a table. The first row has the names of the columns. If the table is too wide and has up to three columns,
// its cells take several lines. If the cells are too narrow, or the table has more columns, each row becomes an entry of a list.
func (t *Term) tableLines(rows [][]string, width int) (lines []string) {
	if len(rows) == 0 {
		return nil
	}
	var natural, word []int // of each column: of its widest cell, and of its longest word
	for _, r := range rows {
		for i, c := range r {
			if i == len(natural) {
				natural, word = append(natural, 0), append(word, 0)
			}
			natural[i] = max(natural[i], Cells(unmarked(c)))
			for _, w := range pieces().FindAllString(c, -1) {
				word[i] = max(word[i], Cells(unmarked(w)))
			}
		}
	}
	columns, ok := share(natural, word, width)
	if !ok {
		return t.listLines(rows, width)
	}
	for n, r := range rows {
		cells, high := make([][]string, len(r)), 0
		for i, c := range r {
			cells[i] = wrapMarked(c, "", "", columns[i])
			high = max(high, len(cells[i]))
		}
		for at := range high {
			line := ""
			for i := range r {
				text := ""
				if at < len(cells[i]) {
					text = cells[i][at]
				}
				shown := spans(t, text)
				if n == 0 {
					shown = t.Style(bold, unmarked(text))
				}
				if line += shown; i+1 < len(r) {
					line += strings.Repeat(" ", max(0, columns[i]-Cells(unmarked(text)))+2)
				}
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	return lines
}

// share gives each column its width. ok is false where the table does not fit.
func share(natural, word []int, width int) (columns []int, ok bool) {
	columns = slices.Clone(natural)
	left := width - 2*(len(natural)-1)
	total := 0
	for _, n := range natural {
		total += n
	}
	if total <= left {
		return columns, true
	}
	if len(natural) > 3 {
		return nil, false
	}
	wide := 0
	for _, n := range natural {
		if n <= leastCell {
			left -= n
		} else {
			wide += n
		}
	}
	for i, n := range natural {
		if n <= leastCell {
			continue
		}
		columns[i] = left * n / wide
		if columns[i] < max(leastCell, word[i]) {
			return nil, false
		}
	}
	return columns, true
}

// listLines writes each row as an entry: its first cell, the named cells behind it, and the cells without a name below.
func (t *Term) listLines(rows [][]string, width int) (lines []string) {
	head := rows[0]
	for n, r := range rows[1:] {
		if n > 0 {
			lines = append(lines, "")
		}
		var named, below []string
		for i, c := range r[1:] {
			switch {
			case c == "":
			case len(head) <= 2 || i+1 >= len(head) || head[i+1] == "":
				below = append(below, c)
			default:
				named = append(named, head[i+1]+": "+c)
			}
		}
		title := unmarked(r[0])
		first := wrapMarked(strings.TrimRight("\x00"+strings.ReplaceAll(title, " ", "\x00")+"  "+strings.Join(named, "; "), " "), "", "    ", width)
		for i, l := range first {
			l = strings.ReplaceAll(l, "\x00", " ")
			if i == 0 {
				l = t.Style(bold, title) + spans(t, strings.TrimPrefix(l[1:], title))
			} else {
				l = spans(t, l)
			}
			lines = append(lines, l)
		}
		for _, c := range below {
			for _, l := range wrapMarked(c, "    ", "    ", width) {
				lines = append(lines, spans(t, l))
			}
		}
	}
	return lines
}
