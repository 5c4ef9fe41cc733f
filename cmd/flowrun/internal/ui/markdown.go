package ui

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

var (
	strong   = lazyregexp.New(`\*\*([^*]+)\*\*`)
	verbatim = lazyregexp.New("`([^`]+)`")
	section  = lazyregexp.New(`^#+ `)
	ruler    = lazyregexp.New(`^\|[-:|]+\|$`)
	cells    = lazyregexp.New(`(?:^\| | \| | \|$)`)
)

// item begins an entry of a list; sourceLine is a source line of a diagnostic, or its carets.
var (
	item       = lazyregexp.New(`^(?:-|\d+\.) `)
	sourceLine = lazyregexp.New(`^ *(?:\d+: .*|\^+)$`)
)

// unescaped makes marks of text from escaped ones.
var unescaped = strings.NewReplacer(`\*`, "*", `\_`, "_", `\<`, "<")

// Markdown writes a page of the reference, at the width of the terminal: headings and strong words bold, code indented, columns of
// tables aligned. The pages are ours, so this knows as much of Markdown as they use.
func Markdown(t *Term, text string) {
	p := &pageWriter{t: t, width: t.Width()}
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if l = Clean(l); !p.code {
			l = unescaped.Replace(l)
		}
		p.line(l)
	}
	p.end()
}

// pageWriter collects the lines of what is written together: a paragraph, an entry of a list, a table.
type pageWriter struct {
	t           *Term
	width       int
	code, shown bool // inside a block of code; of one that shows output
	words       []string
	rest        string // before the lines of the paragraph but the first
	table       [][]string
}

func (p *pageWriter) line(l string) {
	switch {
	case strings.HasPrefix(l, "```"):
		p.end()
		p.code, p.shown = !p.code, l == "```text"
	case p.code:
		p.codeLine(l)
	case strings.HasPrefix(l, "|"):
		p.paragraph()
		if !ruler().MatchString(l) {
			p.table = append(p.table, tableRow(l))
		}
	case l == "":
		p.end()
		p.t.Printf("\n")
	case section().MatchString(l):
		p.end()
		for _, l := range wrap(section().ReplaceAllString(l, ""), "", "  ", p.width) {
			p.t.Printf("%s\n", p.t.Style(bold, l))
		}
	case item().MatchString(l):
		p.end()
		p.words, p.rest = []string{l}, "  "
	default:
		p.words = append(p.words, strings.TrimLeft(l, " "))
	}
}

// codeLine writes code as it is, and prose of shown output in lines that fit.
func (p *pageWriter) codeLine(l string) {
	const margin = "    "
	switch {
	case l == "":
		p.t.Printf("\n")
	case p.shown && !sourceLine().MatchString(l):
		rest := margin + l[:len(l)-len(strings.TrimLeft(l, " "))]
		for _, l := range wrap(strings.TrimLeft(l, " "), rest, rest, p.width) {
			p.t.Printf("%s\n", l)
		}
	default:
		p.t.Printf("%s\n", margin+l)
	}
}

func (p *pageWriter) paragraph() {
	if len(p.words) > 0 {
		for _, l := range wrapMarked(strings.Join(p.words, " "), "", p.rest, p.width) {
			p.t.Printf("%s\n", spans(p.t, l))
		}
	}
	p.words, p.rest = nil, ""
}

func (p *pageWriter) end() {
	p.paragraph()
	for _, l := range p.t.tableLines(p.table, p.width) {
		p.t.Printf("%s\n", l)
	}
	p.table = nil
}

// spans makes strong words bold, and code of another colour.
func spans(t *Term, s string) string {
	s = strong().ReplaceAllStringFunc(s, func(s string) string { return t.Style(bold, strings.Trim(s, "*")) })
	return verbatim().ReplaceAllStringFunc(s, func(s string) string { return t.Style(cyan, strings.Trim(s, "`")) })
}

// tableRow splits a row of a table.
func tableRow(line string) []string {
	parts := cells().Split(line, -1)
	for i, p := range parts {
		parts[i] = strings.TrimSpace(strings.ReplaceAll(Clean(p), "\\|", "|"))
	}
	return parts[1 : len(parts)-1]
}
