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
	free   bool   // one that is not a number
	no     *ban   // why no value can stand in it; nil if one can

	node  *syntax.Word // in a script
	parts []Part       // in a list
}

func (w *word) is(text string) bool { return w.whole && w.text == text }

// wordsOf makes the words of a command of a script.
func (s *scan) wordsOf(list []*syntax.Word) []*word {
	out := make([]*word, 0, len(list))
	for i, x := range list {
		if v := variable(x); v != nil {
			if texts := s.texts(v.Param.Value); len(texts) == 1 {
				out = append(out, expanded(x, texts[0])...)
				continue
			}
		}
		w := &word{node: x, begins: s.begins(x), holds: s.carries(x), free: len(s.sources(x)) > 0}
		w.text, w.whole = s.literal(x)
		if text, ok := s.aliases[w.text]; ok && i == 0 && w.whole {
			for _, f := range strings.Fields(text) {
				out = append(out, &word{node: x, text: f, whole: true})
			}
			continue
		}
		out = append(out, w)
	}
	return out
}

// variants are the words of a command, once for each text that the variable holds which names it.
func (s *scan) variants(list []*syntax.Word) (out [][]*word) {
	if len(list) == 0 {
		return nil
	}
	if v := variable(list[0]); v != nil {
		if texts := s.texts(v.Param.Value); len(texts) > 1 {
			for _, text := range texts {
				out = append(out, append(expanded(list[0], text), s.wordsOf(list[1:])...))
			}
			return out
		}
	}
	return [][]*word{s.wordsOf(list)}
}

// variable is the variable that is all of a word, with quotes or without.
func variable(x *syntax.Word) *syntax.ParamExp {
	if len(x.Parts) != 1 {
		return nil
	}
	part := x.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	if p, ok := part.(*syntax.ParamExp); ok && plain(p) {
		return p
	}
	return nil
}

func plain(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil && !p.Length && !p.Excl && !p.Width
}

// expanded are the words that a variable with a known text becomes.
func expanded(x *syntax.Word, text string) (out []*word) {
	if isQuoted(x.Parts[0]) {
		return []*word{{node: x, text: text, whole: true}}
	}
	for _, f := range strings.Fields(text) {
		out = append(out, &word{node: x, text: f, whole: true})
	}
	return out
}

// texts are what a variable is known to hold; none if it may hold anything.
func (s *scan) texts(name string) []string {
	if s.held.of(name) != nil {
		return nil
	}
	return s.known[name]
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
	whole = literalParts(w.Parts, &b, s, "")
	return b.String(), whole
}

// spelled is the text of parts with _ in the place of what is not known.
func (s *scan) spelled(parts []syntax.WordPart) string {
	var b strings.Builder
	literalParts(parts, &b, s, "_")
	return b.String()
}

func literalParts(parts []syntax.WordPart, b *strings.Builder, s *scan, gap string) bool {
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
			if !literalParts(p.Parts, b, s, gap) {
				return false
			}
		default:
			if v, ok := p.(*syntax.ParamExp); ok && plain(v) {
				if texts := s.texts(v.Param.Value); len(texts) == 1 {
					b.WriteString(texts[0])
					continue
				}
			}
			if gap == "" {
				return false
			}
			b.WriteString(gap)
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
