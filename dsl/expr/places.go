package expr

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/hashicorp/hcl/v2"
)

// places turns offsets in a text into places in the file that it comes from.
type places struct {
	file   string
	src    []byte
	anchor hcl.Pos       // where the expression begins
	at     func(int) int // offset in the text to offset in the file
}

// diagnostics gives the findings their places, in order of these, so that the file is walked once however many there are.
func (p *places) diagnostics(fs []finding) diag.List {
	slices.SortStableFunc(fs, func(a, b finding) int { return a.start - b.start })
	var out diag.List
	here := diag.Pos{Line: p.anchor.Line, Column: p.anchor.Column, Byte: p.anchor.Byte}
	for _, f := range fs {
		d := diag.Diagnostic{Code: f.code, Summary: f.summary, Detail: f.detail, Subject: p.rng(f.span, here)}
		here = d.Subject.Start
		if f.warning {
			d.Severity = diag.Warning
		}
		if f.decl != nil {
			if rng := f.decl.root.Decl(f.decl.name); rng.Set() {
				d.Notes = append(d.Notes, diag.Note{Text: f.decl.text, Range: rng})
			}
		}
		out = append(out, d)
	}
	return out
}

// rng is the range of a span, which begins at or behind a known place.
func (p *places) rng(s span, known diag.Pos) diag.Range {
	start := p.at(s.start)
	end := start
	if s.end > s.start {
		end = p.at(s.end-1) + 1 // behind the last character, not at the one after: what is rewritten has no place of its own
		for end < len(p.src) && !utf8.RuneStart(p.src[end]) {
			end++
		}
	}
	from := p.pos(known, start)
	return diag.Range{File: p.file, Start: from, End: p.pos(from, end)}
}

// pos walks from a known place to a later byte. Columns count characters as editors show them: a mark that combines
// with the one before it has no column of its own.
func (p *places) pos(from diag.Pos, to int) diag.Pos {
	to = min(to, len(p.src))
	joined := false
	for from.Byte < to {
		c, n := utf8.DecodeRune(p.src[from.Byte:])
		from.Byte += n
		switch {
		case c == '\n':
			from.Line, from.Column = from.Line+1, 1
		case c == '\u200d':
			joined = true
			continue
		case joined || unicode.In(c, unicode.Mn, unicode.Me):
		default:
			from.Column++
		}
		joined = false
	}
	return from
}
