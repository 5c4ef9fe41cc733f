package core

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// sourceMap says where the parts of a new text come from.
type sourceMap struct {
	file  *syntax.File // of the author
	parts []part
	start []int // of each part in the new text
	lines []int // where the lines of the old text start; made when it is first asked for
}

func (w *writer) sourceMap(text []byte) *sourceMap {
	m := &sourceMap{file: w.file, parts: w.parts}
	at := 0
	for _, p := range w.parts {
		m.start = append(m.start, at)
		at += len(p.text)
	}
	if at != len(text) {
		panic("core: the parts of a text are not the text")
	}
	return m
}

// part finds the part that a byte of the new text belongs to.
func (m *sourceMap) part(at int) int {
	return max(0, sort.Search(len(m.start), func(i int) bool { return m.start[i] > at })-1)
}

// home is the range of the author's file that a range of the new text comes from. exact reports whether it is a copy.
func (m *sourceMap) home(r diag.Range) (_ diag.Range, exact bool) {
	first, last := m.part(r.Start.Byte), m.part(max(r.Start.Byte, r.End.Byte-1))
	a, b := &m.parts[first], &m.parts[last]
	start, end := a.from.Start.Byte, b.from.End.Byte
	if a.copy >= 0 {
		start = a.copy + r.Start.Byte - m.start[first]
	}
	if b.copy >= 0 {
		end = b.copy + r.End.Byte - m.start[last]
	}
	if start > end { // its ends come from places in another order
		if a.copy < 0 {
			return a.from, false
		}
		end = start
	}
	return diag.Range{File: r.File, Start: m.pos(start), End: m.pos(end)}, first == last && a.copy >= 0
}

// pos is a place in the old text. Columns count as the parser counts them, or nearly.
func (m *sourceMap) pos(at int) diag.Pos {
	src := m.file.Src
	if m.lines == nil {
		m.lines = []int{0}
		for i := 0; ; {
			next := bytes.IndexByte(src[i:], '\n')
			if next < 0 {
				break
			}
			i += next + 1
			m.lines = append(m.lines, i)
		}
	}
	line := sort.SearchInts(m.lines, at+1) - 1
	return diag.Pos{Line: line + 1, Column: syntax.Columns(src[m.lines[line]:min(at, len(src))]) + 1, Byte: at}
}

// Place is the range of the author's files that a range of the core form comes from.
func (p *Program) Place(r diag.Range) diag.Range {
	if r = p.place(r); p.before != nil {
		return p.before.Place(r)
	}
	return r
}

// place is the range that a range of the core form comes from, in the files that this form was made of.
func (p *Program) place(r diag.Range) diag.Range {
	if m := p.maps[r.File]; m != nil && r.Set() {
		r, _ = m.home(r)
	}
	return r
}

// Home says of the author's files what was found in the core form.
func (p *Program) Home(list diag.List) diag.List {
	if list = p.home(list); p.before != nil {
		return p.before.Home(list)
	}
	return list
}

func (p *Program) home(list diag.List) diag.List {
	if len(p.maps) == 0 {
		return list
	}
	out := list[:0]
	for _, d := range list {
		if d = p.bring(d); d.Code == "F0269" && p.used[d.Subject] { // in the file of the author something does use it
			continue
		}
		out = append(out, d)
	}
	return out
}

func (p *Program) bring(d diag.Diagnostic) diag.Diagnostic {
	d.Subject = p.place(d.Subject)
	d.Notes = slices.Clone(d.Notes)
	for i := range d.Notes {
		d.Notes[i].Range = p.place(d.Notes[i].Range)
	}
	if d.Edit != nil {
		if m := p.maps[d.Edit.Range.File]; m != nil {
			r, exact := m.home(d.Edit.Range)
			if d.Edit = &(diag.Edit{Range: r, Text: d.Edit.Text}); !exact {
				d.Edit = nil
			}
		}
	}
	d.Summary, d.Detail, d.Context = p.wording(d.Summary, d.Subject), p.wording(d.Detail, d.Subject), p.wording(d.Context, d.Subject)
	for i := range d.Notes {
		d.Notes[i].Text = p.wording(d.Notes[i].Text, d.Subject)
	}
	if d.Edit != nil {
		d.Edit.Text = p.wording(d.Edit.Text, d.Subject)
	}
	return d
}

// mentioned finds what a message may call a node: its block in words, and a reference to it.
var mentioned = lazyregexp.New(`(?:repeat of )?(?:sequence|parallel|step) "([A-Za-z0-9_-]+)"|step\.([A-Za-z0-9_-]+)|argmax needs a map of numbers`)

// inRounds finds the output of a node in rounds, as it is read from outside of them.
var inRounds = lazyregexp.New(`step\.([A-Za-z0-9_-]+_rounds)\.output\.([A-Za-z0-9_]+)`)

// wording puts words of the author in the place of what a message says of nodes that were made: those of the pattern, and for a finding
// inside of it also the name by which the author reads the result of the node.
func (p *Program) wording(text string, at diag.Range) string {
	text = inRounds().ReplaceAllStringFunc(text, func(found string) string {
		m := inRounds().FindStringSubmatch(found)
		if _, there := p.made[m[1]]; !there {
			return found
		}
		return "step." + m[2] + ".output"
	})
	return mentioned().ReplaceAllStringFunc(text, func(found string) string {
		m := mentioned().FindStringSubmatch(found)
		name := m[1] + m[2]
		n, there := p.made[name]
		if !there && name != "" {
			return found
		}
		inside := n.block.File == at.File && at.Start.Byte >= n.block.Start.Byte && at.Start.Byte < n.block.End.Byte
		switch {
		case name == "" && p.inScore(at):
			return "score needs numbers"
		case m[2] != "" && inside && n.alias != "":
			return n.alias
		case m[1] != "" && !(n.group && strings.HasPrefix(found, "step")):
			return n.shown
		}
		return found
	})
}

// inScore reports whether a place is the score of a compete.
func (p *Program) inScore(at diag.Range) bool { return p.scores[at] }
