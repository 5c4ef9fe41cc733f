package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command, as the program gets it.
type word struct {
	text   string // what it begins with, as far as it is known
	whole  bool   // that is all of it
	begins bool   // a value that may begin with - stands first
	holds  bool   // there is a value in it
	free   bool   // one that is no number
	no     *ban   // why no value can stand in it; nil if one can

	node  *syntax.Word // in a script
	parts []Part       // in a list
}

func (w *word) is(text string) bool { return w.whole && w.text == text }

// wordsOf makes the words of a command of a script.
func (s *scan) wordsOf(list []*syntax.Word) []*word {
	out := make([]*word, len(list))
	for i, x := range list {
		w := &word{node: x, begins: s.begins(x), holds: s.carries(x), free: len(s.sources(x)) > 0}
		w.text, w.whole = s.literal(x)
		out[i] = w
	}
	return out
}

// wordOf makes a word of a list.
func wordOf(parts []Part) *word {
	w := &word{parts: parts, whole: true}
	for _, p := range parts {
		switch {
		case p.Value:
			w.begins = w.begins || w.whole && w.text == "" && !p.Plain
			w.whole, w.holds, w.free = false, true, w.free || !p.Tame
		case w.whole:
			w.text += p.Text
		}
	}
	return w
}

// literal is the text that a word begins with, as far as it is known without running anything; whole tells whether that is
// all of it.
func (s *scan) literal(w *syntax.Word) (text string, whole bool) {
	var b strings.Builder
	whole = literalParts(w.Parts, &b, s)
	return b.String(), whole
}

func literalParts(parts []syntax.WordPart, b *strings.Builder, s *scan) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			if first, last := s.within(p.Left.Offset(), p.Right.Offset()); first < last {
				b.WriteString(strings.TrimPrefix(s.text[p.Left.Offset():s.marks[first].start], "$")[1:])
				return false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if !literalParts(p.Parts, b, s) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// begins tells whether a word begins with a value, so that the value decides what sort of word it is. A variable of the
// script may be empty, so what stands behind it may begin the word.
func (s *scan) begins(w *syntax.Word) bool {
	is, _ := s.leads(w.Parts)
	return is
}

// leads tells whether parts begin with a value, and whether they are known to begin with something.
func (s *scan) leads(parts []syntax.WordPart) (value, known bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			known = p.Value != ""
		case *syntax.SglQuoted:
			if i, last := s.within(p.Left.Offset(), p.Right.Offset()); i < last && s.marks[i].start == int(p.Left.Offset())+1 {
				return !s.marks[i].value.Plain, true
			}
			known = p.Value != ""
		case *syntax.DblQuoted:
			value, known = s.leads(p.Parts)
		case *syntax.ArithmExp:
			known = true
		case *syntax.ParamExp:
			if i, last := s.within(p.Pos().Offset(), p.Pos().Offset()+1); i < last {
				return !s.marks[i].value.Plain, true
			}
			value = s.carries(p)
		default:
			value = s.carries(p)
		}
		if value || known {
			return value, known
		}
	}
	return false, false
}

// carries tells whether a value stands in a node, or a variable that holds one.
func (s *scan) carries(n syntax.Node) bool {
	return s.holds(n) || len(s.mentioned(n)) > 0
}
