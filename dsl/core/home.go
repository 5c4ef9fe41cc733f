package core

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// sourceMap says where the parts of a new text come from.
type sourceMap struct {
	file  *syntax.File // of the author
	parts []part
	start []int // of each part in the new text
	made  []made
	lines []int // where the lines of the old text start; made when it is first asked for
}

func (w *writer) sourceMap(text []byte) *sourceMap {
	m := &sourceMap{file: w.file, parts: w.parts, made: w.made}
	at := 0
	for _, p := range w.parts {
		m.start = append(m.start, at)
		at += len(p.text)
	}
	if at != len(text) {
		panic("core: the text that was parsed is not the one that was written") // it was read once before, so it has no mark or CR
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
	m := p.maps[r.File]
	if m == nil || !r.Set() {
		return r
	}
	r, _ = m.home(r)
	return r
}

// Home says of the author's files what was found in the core form.
func (p *Program) Home(list diag.List) diag.List {
	if len(p.maps) == 0 {
		return list
	}
	for i := range list {
		list[i] = p.bring(list[i])
	}
	return list
}

func (p *Program) bring(d diag.Diagnostic) diag.Diagnostic {
	d.Subject = p.Place(d.Subject)
	d.Notes = slices.Clone(d.Notes)
	for i := range d.Notes {
		d.Notes[i].Range = p.Place(d.Notes[i].Range)
	}
	if d.Edit != nil {
		if m := p.maps[d.Edit.Range.File]; m != nil {
			r, exact := m.home(d.Edit.Range)
			if d.Edit = &(diag.Edit{Range: r, Text: d.Edit.Text}); !exact {
				d.Edit = nil
			}
		}
	}
	words := p.wording(d.Subject)
	if words == nil {
		return d
	}
	d.Summary, d.Detail, d.Context = words.Replace(d.Summary), words.Replace(d.Detail), words.Replace(d.Context)
	for i := range d.Notes {
		d.Notes[i].Text = words.Replace(d.Notes[i].Text)
	}
	if d.Edit != nil {
		d.Edit.Text = words.Replace(d.Edit.Text)
	}
	return d
}

// wording replaces the names of nodes that were made by words of the author: those that a finding inside a pattern reads by another
// name, and everywhere the node itself.
func (p *Program) wording(at diag.Range) *strings.Replacer {
	var pairs []string // of equal ones the first counts
	for _, name := range p.rewritten() {
		for _, n := range p.maps[name].made {
			if n.group != "" {
				pairs = append(pairs, "repeat of "+n.group, n.within, n.group, n.within)
				continue
			}
			if n.alias != "" && n.block.File == at.File && at.Start.Byte >= n.block.Start.Byte && at.Start.Byte < n.block.End.Byte {
				pairs = append(pairs, "step."+n.node+".", n.alias+".", "step."+n.node, n.alias)
			}
			pairs = append(pairs, `step "`+n.node+`"`, n.shown)
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// rewritten lists the files with patterns.
func (p *Program) rewritten() (out []string) {
	for name := range p.maps { // any order: sorted below
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
