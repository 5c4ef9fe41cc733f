// Package editor answers the questions that a person asks of a file while typing: what can be written here, what a word means, where a
// name is declared and read, and what has to change to give it another name.
//
// The checker refuses to look into a file with a syntax error, and a file that is being typed mostly has one. So this package has a
// reading of its own: it takes the tokens of HCL and makes blocks, attributes and paths of names ([Read]), also of half a file. All that
// it says of the language comes from the tables of schema and reference; findings come from the checker alone, in package dsl.
//
// The package reads nothing from the disk and knows no protocol. What holds always: nothing in a text makes it panic; time and memory
// grow with the text; places count in the text as syntax gives it, without a byte order mark and with LF. Enter at [Read], [Doc.Complete],
// [Doc.Hover], [Program.Find] and [Program.Rename].
package editor

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// Span is a piece of a text, in bytes.
type Span struct{ From, To int }

// Has reports whether a place is in the span, or at one of its ends.
func (s Span) Has(at int) bool { return s.From <= at && at <= s.To }

// Position is a place as editors count: line and character from 0. A character is a unit of UTF-16, or a byte.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a piece of a text as editors count it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Text converts places of a text.
type Text struct {
	Src   []byte // without a byte order mark and with LF
	lines []int  // where each line begins
	mark  bool   // the text had a byte order mark
	bytes bool   // characters are bytes
}

// NewText prepares a text. inBytes counts characters in bytes, as editors that offer UTF-8 do; otherwise in units of UTF-16.
func NewText(data []byte, inBytes bool) *Text {
	src := bytes.TrimPrefix(data, []byte("\ufeff"))
	t := &Text{mark: len(src) < len(data), bytes: inBytes, lines: []int{0}}
	t.Src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	for i, b := range t.Src {
		if b == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// Position returns the place of an offset. An offset outside the text is cut to it.
func (t *Text) Position(offset int) Position {
	offset = min(max(offset, 0), len(t.Src))
	line := sort.SearchInts(t.lines, offset+1) - 1
	p := Position{Line: line, Character: t.units(t.Src[t.lines[line]:offset])}
	if line == 0 && t.mark {
		p.Character += t.units([]byte("\ufeff"))
	}
	return p
}

// Range returns the places of a span.
func (t *Text) Range(s Span) Range { return Range{t.Position(s.From), t.Position(s.To)} }

// Offset returns the offset of a place. A place outside the text is cut to it.
func (t *Text) Offset(p Position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(t.lines):
		return len(t.Src)
	}
	at, left := t.lines[p.Line], p.Character
	if p.Line == 0 && t.mark {
		left -= t.units([]byte("\ufeff"))
	}
	for at < len(t.Src) && t.Src[at] != '\n' && left > 0 {
		_, size := utf8.DecodeRune(t.Src[at:])
		left -= t.units(t.Src[at : at+size])
		at += size
	}
	return at
}

// units counts the characters of a piece.
func (t *Text) units(piece []byte) int {
	if t.bytes {
		return len(piece)
	}
	n := 0
	for len(piece) > 0 {
		r, size := utf8.DecodeRune(piece)
		if piece = piece[size:]; r >= 0x10000 {
			n++
		}
		n++
	}
	return n
}
