package backlog

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxContainers bounds how many quotes and lists one line opens; a reader of Markdown that is asked for more takes quadratic time.
const maxContainers = 100

// blockParser finds the blocks of a file and leaves their texts alone: those of items are parsed one by one, up to MaxTitle bytes,
// because delimiters and brackets in a long text can take quadratic time.
var blockParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(append(parser.DefaultBlockParsers(), util.Prioritized(percentParser{}, 650))...),
		parser.WithParagraphTransformers(util.Prioritized(definitions{}, 100)))
})

// maxDefinitions bounds the lines of a paragraph in which definitions of links are looked for: goldmark takes quadratic time for them.
const maxDefinitions = 1000

type definitions struct{}

func (definitions) Transform(p *ast.Paragraph, r text.Reader, pc parser.Context) {
	if p.Lines().Len() <= maxDefinitions {
		parser.LinkReferenceParagraphTransformer.Transform(p, r, pc)
	}
}

// markdown reads one file.
type markdown struct {
	d       *Document
	src     []byte // as long as the source; what is not to be read is blank
	context parser.Context
	starts  []int // where each line starts

	legend   map[string]Status
	headings []heading // from the outermost to the nearest
	label    *said     // of a paragraph such as "Done:", for the lists behind it
	drafts   []draft
	tables   int
}

type heading struct {
	level int
	text  string
	said
}

// draft is an item before its needs and its id are known.
type draft struct {
	item   Item
	mark   mark
	parent int // index, or -1
	path   string
	needs  []need
}

// list is where a new item of a section can stand.
type list struct {
	section string
	end     int    // behind the last line of the list, or of the heading where there is no list
	indent  string // the start of a line of the list: "- "
	empty   bool   // there is only the heading
}

func (d *Document) readMarkdown() (err error) {
	defer func() {
		if p := recover(); p != nil { // goldmark has panicked on odd input before
			err = fmt.Errorf("the Markdown cannot be parsed: %v", p)
		}
	}()
	m := &markdown{d: d, src: visible(d.source), context: parser.NewContext(), legend: map[string]Status{}}
	m.starts = append(m.starts, 0)
	for i, c := range m.src {
		if c == '\n' {
			m.starts = append(m.starts, i+1)
		}
	}
	root := blockParser().Parse(text.NewReader(m.src), parser.WithContext(m.context))
	m.readLegend(root)
	m.blocks(root, -1, said{})
	m.finish()
	d.legend = m.legend
	return nil
}

// visible copies a source and blanks what goldmark would misread: front matter, lone carriage returns and lines
// that open too many containers. Every byte keeps its place.
func visible(source []byte) []byte {
	src := bytes.Clone(source)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if src[i] != '\n' && src[i] != '\r' {
				src[i] = ' '
			}
		}
	}
	for i, c := range src {
		switch {
		case c == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			src[i] = '\n'
		case c == 0:
			src[i] = ' '
		}
	}
	for start, n := 0, 0; start < len(src); n++ {
		end := bytes.IndexByte(src[start:], '\n')
		if end < 0 {
			end = len(src)
		} else {
			end += start + 1
		}
		line := string(bytes.TrimSpace(src[start:min(end, start+16)]))
		if n == 0 && (line == "---" || line == "+++") {
			if to := frontMatter(src, end, line); to > 0 {
				blank(0, to)
				end = to
			}
		}
		if containers(src[start:end]) > maxContainers {
			blank(start, end)
		}
		start = end
	}
	return src
}

// frontMatter gives the end of the front matter whose first line ends before from; 0 if there is none.
func frontMatter(src []byte, from int, fence string) int {
	for start := from; start < len(src); {
		end := bytes.IndexByte(src[start:], '\n')
		if end < 0 {
			end = len(src)
		} else {
			end += start + 1
		}
		line := string(bytes.TrimRight(src[start:end], " \t\r\n"))
		if line == fence || fence == "---" && line == "..." {
			return end
		}
		if start == from && line == "" { // a thematic break, and then text
			return 0
		}
		start = end
	}
	return 0
}

// containers counts the quotes and lists that a line opens at most.
func containers(line []byte) (n int) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '>':
			i++
		case c == '-' || c == '*' || c == '+':
			i++
			if i < len(line) && line[i] != ' ' && line[i] != '\t' {
				return n
			}
		case c >= '0' && c <= '9':
			for i < len(line) && line[i] >= '0' && line[i] <= '9' {
				i++
			}
			if i+1 >= len(line) || line[i] != '.' && line[i] != ')' || line[i+1] != ' ' && line[i+1] != '\t' {
				return n
			}
			i++
		default:
			return n
		}
		n++
	}
	return n
}

func (m *markdown) lineOf(at int) int {
	return sort.Search(len(m.starts), func(i int) bool { return m.starts[i] > at })
}

// blocks reads the blocks of the document or of a list item that is not an item of work. Parent is the index of the item around them.
func (m *markdown) blocks(n ast.Node, parent int, from said) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Heading:
			if parent < 0 {
				m.heading(c)
			}
		case *ast.Paragraph:
			m.paragraph(c, parent)
		case *ast.List:
			m.list(c, parent, from)
		case *ast.ThematicBreak:
			m.label = nil
		}
	}
}

func (m *markdown) heading(h *ast.Heading) {
	flat := m.inline(m.joined(h.Lines()))
	name := oneLine(flat.plain())
	if strings.HasSuffix(name, "}") {
		name = trailingID.Load().ReplaceAllString(name, "")
	}
	for len(m.headings) > 0 && m.headings[len(m.headings)-1].level >= h.Level {
		m.headings = m.headings[:len(m.headings)-1]
	}
	next := heading{level: h.Level, text: name, said: readPhrase(name, m.legend)}
	if last := m.nearest(); next.status == "" && !next.silent && last != nil {
		next.said = said{status: last.status, silent: last.silent}
	}
	m.headings = append(m.headings, next)
	m.label = nil
	if l := h.Lines(); l.Len() > 0 {
		m.d.lists = append(m.d.lists, list{section: name, end: m.endOfHeading(l.At(l.Len()-1).Stop - 1), indent: "- ", empty: true})
	}
}

// endOfLine gives the place behind the line break of the line that holds at.
func (m *markdown) endOfLine(at int) int {
	at = min(max(at, 0), len(m.src))
	if i := bytes.IndexByte(m.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(m.src)
}

// endOfHeading gives the place behind a heading, and behind the line that underlines it.
func (m *markdown) endOfHeading(last int) int {
	end := m.endOfLine(last)
	line := bytes.TrimSpace(m.src[end:m.endOfLine(end)])
	if start := bytes.TrimSpace(m.src[m.starts[m.lineOf(last)-1]:last]); !bytes.HasPrefix(start, []byte("#")) && len(line) > 0 &&
		(len(bytes.Trim(line, "=")) == 0 || len(bytes.Trim(line, "-")) == 0) {
		return m.endOfLine(end)
	}
	return end
}

func (m *markdown) nearest() *heading {
	if len(m.headings) == 0 {
		return nil
	}
	return &m.headings[len(m.headings)-1]
}

func (m *markdown) section() string {
	if h := m.nearest(); h != nil {
		return h.text
	}
	return ""
}

// place is what a list says by where it stands.
func (m *markdown) place(from said) said {
	switch {
	case from != said{}:
		return from
	case m.label != nil:
		return *m.label
	case m.nearest() != nil:
		return m.nearest().said
	}
	return said{}
}

// paragraph reads tables, tasks without bullets, and labels of lists.
func (m *markdown) paragraph(p *ast.Paragraph, parent int) {
	lines := p.Lines()
	if m.table(lines, parent) {
		return
	}
	tasks := false
	for i := range lines.Len() {
		s := lines.At(i)
		if box, ok := findBox(m.src[s.Start:s.Stop]); ok && !box.odd {
			tasks = true
			one := text.NewSegments()
			one.Append(s)
			m.task(nil, one, parent, m.place(said{}), box)
		}
	}
	if tasks {
		return
	}
	m.label = nil
	if lines.Len() == 1 && len(m.value(lines.At(0))) < 200 {
		flat := m.inline(m.joined(lines))
		if words := oneLine(flat.plain()); strings.HasSuffix(words, ":") || flat.bold {
			if s := readPhrase(words, m.legend); s.status != "" || s.silent {
				m.label = &s
			}
		}
	}
}

// list reads a list. Its plain bullets are items where its place says a status and no bullet of the list has a box.
func (m *markdown) list(l *ast.List, parent int, from said) {
	if m.isLegend(l) {
		return
	}
	place, boxes := m.place(from), false
	for c := l.FirstChild(); c != nil; c = c.NextSibling() {
		if lines := firstLines(c); lines != nil {
			if _, ok := findBox(m.value(lines.At(0))); ok {
				boxes = true
				break
			}
		}
	}
	plain := place.status != "" && !place.silent && !boxes && parent < 0
	for c := l.FirstChild(); c != nil; c = c.NextSibling() {
		lines, at := firstLines(c), -1
		if lines != nil {
			at = m.bullet(c, lines, parent, place, plain)
		}
		inside := place
		switch at {
		case labelled:
			at, inside = parent, readPhrase(oneLine(m.inline(m.joined(lines)).plain()), m.legend)
		case -1:
			at = parent
		}
		m.nested(c, at, inside)
	}
	if _, top := l.Parent().(*ast.Document); top {
		m.d.lists = append(m.d.lists, list{section: m.section(), end: m.endOfLine(m.lastByte(l)), indent: string(l.Marker) + " "})
	}
}

// nested reads what stands below the first text of a list item.
func (m *markdown) nested(c ast.Node, parent int, place said) {
	label := m.label
	m.label = nil
	for n := c.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.List:
			from := place
			if m.label != nil {
				from = *m.label
			}
			m.list(n, parent, from)
		case *ast.Paragraph:
			if n != c.FirstChild() {
				m.paragraph(n, parent)
			}
		}
	}
	m.label = label
}

// firstLines gives the lines of the text that a list item begins with; nil if it begins with something else.
func firstLines(c ast.Node) *text.Segments {
	switch n := c.FirstChild().(type) {
	case *ast.TextBlock, *ast.Paragraph:
		if n.Lines().Len() > 0 {
			return n.Lines()
		}
	}
	return nil
}

func (m *markdown) value(s text.Segment) []byte { return m.src[s.Start:s.Stop] }

// joined gives the source of a text, at most MaxTitle bytes of it.
func (m *markdown) joined(lines *text.Segments) string {
	var b strings.Builder
	for i := range lines.Len() {
		line := bytes.TrimRight(m.value(lines.At(i)), "\r\n")
		if b.Len()+len(line) > MaxTitle {
			line = line[:max(0, MaxTitle-b.Len())]
			for len(line) > 0 && !utf8.RuneStart(line[len(line)-1]) {
				line = line[:len(line)-1]
			}
			if len(line) > 0 && line[len(line)-1] >= utf8.RuneSelf {
				line = line[:len(line)-1]
			}
			b.Write(line)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.Write(line)
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

// box is the mark of a task at the start of a text.
type box struct {
	start, end int // of the character between the brackets, in the text
	after      int // where the title starts
	status     Status
	strong     bool // it says more than that the item is open
	odd        bool // "[]", which only a bullet makes a task
}

func findBox(line []byte) (box, bool) {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	if i+1 >= len(line) || line[i] != '[' {
		return box{}, false
	}
	for end := i + 1; end < len(line) && end <= i+5; end++ {
		if line[end] != ']' {
			continue
		}
		word := strings.TrimRight(string(line[i+1:end]), "\ufe0f")
		status, ok := boxes[word]
		if !ok || end+1 < len(line) && strings.IndexByte(" \t\r\n", line[end+1]) < 0 && !bytes.HasPrefix(line[end+1:], []byte("\u00a0")) {
			return box{}, false
		}
		return box{start: i + 1, end: end, after: min(end+1, len(line)), status: status, strong: status != Todo || word == "*", odd: word == ""}, true
	}
	return box{}, false
}

// labelled says that a bullet is a heading for the list below it.
const labelled = -2

// bullet reads the text of a list item. It gives the index of the item, -1 if the text is none, or labelled.
func (m *markdown) bullet(c ast.Node, lines *text.Segments, parent int, place said, plain bool) int {
	s := lines.At(0)
	if b, ok := findBox(m.value(s)); ok {
		return m.task(c, lines, parent, place, b)
	}
	flat := m.inline(m.joined(lines))
	words := oneLine(flat.plain())
	if said := readPhrase(words, m.legend); said.exact || said.silent {
		if _, isList := c.LastChild().(*ast.List); isList {
			return labelled
		}
		if said.exact {
			return -1 // an entry of a legend
		}
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(flat.text), " ")
	first = strings.TrimSuffix(first, ":")
	keyword, isKeyword := keywords[first]
	if isKeyword && strings.TrimSpace(rest) != "" {
		f := m.facts(rest, flat)
		f.status = keyword
		k := mark{}
		if at := bytes.Index(m.value(s), []byte(first)); at >= 0 {
			k = mark{kind: wordMark, start: s.Start + at, end: s.Start + at + len(first)}
		}
		return m.add(c, lines, parent, f, k)
	}
	if place.silent {
		return -1
	}
	f := m.facts(flat.text, flat)
	if parent >= 0 && (f.title == "" || f.untitled) {
		m.merge(parent, f)
		return -1
	}
	status, isEmoji := emojiStatus(f.emoji, m.legend, plain)
	switch {
	case f.title == "":
	case isEmoji:
		k := mark{}
		if at, n := m.findRune(lines, f.emoji); at >= 0 {
			k = mark{kind: emojiMark, start: at, end: at + n}
		}
		f.status = status
		return m.add(c, lines, parent, f, k)
	case plain && !looksLikeNote(words):
		if f.status == "" {
			f.status = place.status
			if flat.struckWhole {
				f.status = Cancelled
			}
		}
		return m.add(c, lines, parent, f, mark{kind: bulletMark, start: s.Start, end: s.Start})
	}
	return -1
}

// merge gives an item the metadata of a bullet below it that holds nothing else.
func (m *markdown) merge(parent int, f facts) {
	d := &m.drafts[parent]
	setText(&d.item.Owner, f.owner)
	setText(&d.item.Due, f.due)
	if d.item.ID == "" && f.id != "" {
		d.item.ID, d.item.Explicit = f.id, true
	}
	if d.item.Priority == nil {
		d.item.Priority = f.priority
	}
	if f.status != "" && d.item.Status == Todo && d.mark.kind == boxMark {
		d.item.Status = f.status
	}
	d.needs = append(d.needs, f.needs...)
	d.item.Tags = append(d.item.Tags, f.tags...)
}

// looksLikeNote finds footnotes and numbered sources: [1] and [^1].
func looksLikeNote(words string) bool {
	end := strings.IndexByte(words, ']')
	return end > 1 && strings.Trim(words[1:end], "^0123456789") == ""
}

// task reads an item with a box.
func (m *markdown) task(c ast.Node, lines *text.Segments, parent int, place said, b box) int {
	s := lines.At(0)
	source := m.joined(lines)
	flat := m.inline(source[min(b.after, len(source)):])
	f := m.facts(flat.text, flat)
	if f.title == "" || place.silent && readPhrase(f.title, nil).exact {
		return -1
	}
	status := b.status
	if s, ok := m.legend["["+string(m.src[s.Start+b.start:s.Start+b.end])+"]"]; ok {
		status = s
	}
	if !b.strong && status == Todo {
		byEmoji, isEmoji := emojiStatus(f.emoji, m.legend, true)
		switch {
		case flat.struckWhole:
			status = Cancelled
		case f.status != "":
			status = f.status
		case isEmoji:
			status = byEmoji
		case place.exact && place.status != Done && place.status != Question:
			status = place.status
		}
	}
	f.status = status
	return m.add(c, lines, parent, f, mark{kind: boxMark, start: s.Start + b.start, end: s.Start + b.end})
}

// add appends an item and returns its index; -1 if the text has no title.
func (m *markdown) add(c ast.Node, lines *text.Segments, parent int, f facts, k mark) int {
	if f.title == "" {
		return -1
	}
	at := lines.At(0).Start
	d := draft{mark: k, parent: parent, needs: f.needs, item: f.item()}
	d.item.Line = m.lineOf(at)
	d.item.Section = m.section()
	if c != nil {
		from, to := m.endOfLine(lines.At(lines.Len()-1).Stop-1), m.endOfLine(m.lastByte(c))
		if from < to {
			d.item.Body = strings.TrimSpace(strings.ToValidUTF8(string(m.d.source[from:min(to, from+MaxBody)]), "\ufffd"))
		}
	}
	var b strings.Builder
	for _, h := range m.headings {
		b.WriteString(h.text)
		b.WriteByte(0)
	}
	if parent >= 0 {
		b.WriteString(m.drafts[parent].path)
		b.WriteByte(1)
	}
	b.WriteString(f.title)
	d.path = b.String()
	m.drafts = append(m.drafts, d)
	return len(m.drafts) - 1
}

// lastByte gives the last byte of the texts of a block.
func (m *markdown) lastByte(n ast.Node) int {
	last := 0
	for c := n; c != nil; {
		if c.Type() == ast.TypeBlock && c.Lines() != nil && c.Lines().Len() > 0 {
			last = max(last, c.Lines().At(c.Lines().Len()-1).Stop-1)
		}
		if f, ok := c.(*ast.FencedCodeBlock); ok && c.Lines().Len() > 0 {
			_ = f
			last = m.endOfLine(m.endOfLine(last)) - 1 // the closing fence
		}
		c = c.LastChild()
	}
	return last
}

// findRune finds a rune in the source of a text.
func (m *markdown) findRune(lines *text.Segments, r rune) (at, n int) {
	for i := range lines.Len() {
		s := lines.At(i)
		if k := bytes.IndexRune(m.value(s), r); k >= 0 {
			n = utf8.RuneLen(r)
			for _, selector := range []string{"\ufe0f", "\ufe0e"} {
				if bytes.HasPrefix(m.src[s.Start+k+n:s.Stop], []byte(selector)) {
					n += len(selector)
				}
			}
			return s.Start + k, n
		}
	}
	return -1, 0
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
