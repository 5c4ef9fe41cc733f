package editor

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/reference"
)

var startPos = hcl.Pos{Line: 1, Column: 1}

var code = lazyregexp.New(`^F\d{4}$`)

// Hover explains the word at an offset in Markdown, and tells where the word is; "" if there is nothing to say.
func (p *Program) Hover(d *Doc, at int) (string, Span) {
	at = min(max(at, 0), len(d.Src))
	w := Span{at, at}
	for w.From > 0 && wordByte(d.Src[w.From-1]) {
		w.From--
	}
	for w.To < len(d.Src) && wordByte(d.Src[w.To]) {
		w.To++
	}
	word := string(d.Src[w.From:w.To])
	if code().MatchString(word) {
		return about(word), w
	}
	b, a := d.place(at)
	for _, in := range append(b.Blocks, b) {
		if in.Parent != nil && in.Kind.Has(at) && in.Spec != nil {
			return about(in.Spec.Key()), in.Kind.Span
		}
	}
	for _, is := range b.Attrs {
		if is.Has(at) && b.Spec != nil && is.Spec != nil {
			return about(b.Spec.Key() + "." + is.Text), is.Span
		}
	}
	if s, span := p.Find(d, at); s != nil {
		return s.markdown(), span
	}
	if a == nil {
		return "", w
	}
	for _, path := range d.Paths {
		for i, n := range path.Names {
			switch {
			case !n.Has(at) || path.Attr != a:
			case i == 0:
				return about(n.Text), n.Span
			case i == 2 && path.Names[0].Text == "step", i == 1 && (path.Names[0].Text == "run" || path.Names[0].Text == "error"):
				return about(path.Names[0].Text + "." + n.Text), n.Span
			}
		}
	}
	if a.Spec != nil && len(a.Spec.Words) > 0 && b.Spec != nil {
		return about(b.Spec.Key() + "." + a.Text), w
	}
	return "", w
}

// about is what flowrun explain says of a word, or "".
func about(word string) string {
	text, _, _ := reference.About(word)
	return text
}

// markdown describes a symbol.
func (s *Symbol) markdown() string {
	text := fmt.Sprintf("**%s.%s**: `%s`", s.Root, s.Text, strings.ReplaceAll(s.Type(), "`", "'"))
	if s.Root == "step" {
		if typed := s.attr("output"); typed != "" {
			text += "\n\nOutput: `" + short(typed) + "`"
		}
	}
	if about := s.Description(); about != "" {
		text += "\n\n" + about
	}
	return text
}
