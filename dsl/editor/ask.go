package editor

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/reference"
	"github.com/flowrun/flowrun/dsl/schema"
)

// language is the table of the language, made once.
var language = sync.OnceValue(reference.Language)

// place returns the innermost block around an offset, and the attribute whose value is there or nil.
func (d *Doc) place(at int) (*Block, *Attr) {
	b := d.Top
down:
	for {
		for _, in := range b.Blocks {
			if in.Body.From <= at && at <= in.Body.To {
				b = in
				continue down
			}
		}
		break
	}
	for _, a := range b.Attrs {
		if a.Value.Has(at) {
			return b, a
		}
	}
	return b, nil
}

// quoted reports whether an offset in a value is in the literal part of a text.
func (d *Doc) quoted(a *Attr, at int) bool {
	var open []bool // of texts and of interpolations in them
	for _, t := range d.tokens {
		if t.Range.Start.Byte < a.Value.From {
			continue
		}
		if t.Range.Start.Byte >= at {
			break
		}
		switch t.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			open = append(open, true)
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			open = append(open, false)
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	return len(open) > 0 && open[len(open)-1]
}

// ItemKind says what an item of completion is.
type ItemKind int

// The kinds of items, as the protocol of language servers counts them.
const (
	KindFunction ItemKind = 3
	KindField    ItemKind = 5
	KindVariable ItemKind = 6
	KindClass    ItemKind = 7
	KindProperty ItemKind = 10
	KindWord     ItemKind = 12
	KindNode     ItemKind = 23
)

// Item is a word that can be written at a place.
type Item struct {
	Label  string
	Kind   ItemKind
	Detail string // its type, or what it is
	Doc    string
	Insert string // the text to insert; "" is the label
}

var chain = lazyregexp.New(`(?:[A-Za-z_][A-Za-z0-9_-]*\??\.)*[A-Za-z0-9_-]*$`)

// Complete lists what can be written at an offset, and the span that it replaces.
func (p *Program) Complete(d *Doc, at int) ([]Item, Span) {
	at = min(max(at, 0), len(d.Src))
	before := d.Src[bytes.LastIndexByte(d.Src[:at], '\n')+1 : at]
	path := string(chain().Find(before[max(0, len(before)-1000):]))
	word := path[strings.LastIndexByte(path, '.')+1:]
	span := Span{at - len(word), at}
	b, a := d.place(at)
	if a == nil {
		if rest := strings.TrimSpace(string(before[:len(before)-len(word)])); rest != "" && !strings.HasSuffix(rest, "{") {
			return nil, span
		}
		return b.items(), span
	}
	condition := a.Spec != nil && (a.Spec.Kind == schema.Condition || a.Spec.Kind == schema.Conditions || a.Spec.Kind == schema.Join)
	if d.quoted(a, at) && !condition {
		return a.words(false), span
	}
	names := strings.Split(strings.ReplaceAll(path, "?", ""), ".")
	names = names[:len(names)-1]
	if len(names) == 0 {
		return p.first(d, a, condition || d.quoted(a, at)), span
	}
	return p.members(d, a, names), span
}

// items are the attributes and blocks that a block can get.
func (b *Block) items() (out []Item) {
	if b.Spec == nil {
		return nil
	}
	for i := range b.Spec.Attrs {
		a := &b.Spec.Attrs[i]
		if a.Later == nil && !slices.ContainsFunc(b.Attrs, func(is *Attr) bool { return is.Text == a.Name }) {
			out = append(out, Item{a.Name, KindProperty, takes(a), a.Doc, a.Name + " = "})
		}
	}
	for _, kind := range b.Spec.Blocks {
		in := b.Spec.Inside(kind)
		if in == nil || in.Later != nil || in.Once && slices.ContainsFunc(b.Blocks, func(is *Block) bool { return is.Kind.Text == kind }) {
			continue
		}
		insert := kind + " {"
		if in.Label != "" {
			insert = kind + " \""
		}
		out = append(out, Item{kind, KindClass, "block", in.Doc, insert})
	}
	return out
}

// takes says in short what an attribute takes.
func takes(a *schema.Attr) string {
	switch {
	case len(a.Words) > 0:
		return strings.Join(a.Words, " | ")
	case a.Kind == schema.Value:
		return a.Want.String()
	case a.RefKind != "":
		return a.RefKind + ".NAME"
	}
	return a.Kind.String()
}

// words are those of a closed list, or true and false.
func (a *Attr) words(quotes bool) (out []Item) {
	if a.Spec == nil {
		return nil
	}
	for _, w := range a.Spec.Words {
		item := Item{Label: w, Kind: KindWord, Detail: a.Text, Doc: a.Spec.Doc}
		if quotes {
			item.Insert = `"` + w + `"`
		}
		out = append(out, item)
	}
	if a.Spec.Kind == schema.Flag {
		out = append(out, Item{Label: "true", Kind: KindWord}, Item{Label: "false", Kind: KindWord})
	}
	return out
}

// first are the names that an expression can begin with.
func (p *Program) first(d *Doc, a *Attr, inText bool) (out []Item) {
	if !inText {
		out = a.words(true)
	}
	if a.Spec != nil && a.Spec.RefKind != "" {
		for _, s := range p.visible(d, a) {
			if s.Root == a.Spec.RefKind || a.Spec.Pools && s.Root == "pool" {
				out = append(out, Item{s.Root + "." + s.Text, KindNode, s.Type(), s.Description(), ""})
			}
		}
	}
	if a.Spec != nil && slices.Contains([]schema.Kind{schema.Ref, schema.Refs, schema.Word, schema.Flag, schema.Text, schema.Strings, schema.Quotas}, a.Spec.Kind) {
		return out
	}
	if a.Spec != nil && a.Spec.Kind == schema.Type {
		for _, w := range []string{"string", "number", "bool", "any", "list", "set", "map", "object", "tuple", "optional"} {
			out = append(out, Item{Label: w, Kind: KindWord, Detail: "type"})
		}
		return out
	}
	t := language()
	roots := t.Roots
	if topKind(d.Name) == "flowtest" {
		roots = t.Tests
	}
	for _, r := range roots {
		out = append(out, Item{Label: r.Name, Kind: KindVariable, Detail: r.Type, Doc: r.Doc})
	}
	for _, f := range t.Functions {
		out = append(out, Item{f.Name, KindFunction, f.Form, f.Doc, f.Name + "("})
	}
	return out
}

// aboutFailure reports whether the attribute is of a rule about a failed attempt, of which result has less.
func (a *Attr) aboutFailure() bool {
	return a.Block != nil && slices.Contains([]string{"retry", "classify", "circuit_breaker", "rule", "level"}, a.Block.Kind.Text)
}

// members are the names behind a dot.
func (p *Program) members(d *Doc, a *Attr, names []string) (out []Item) {
	if names[0] == "last" {
		names = names[1:]
	}
	t := language()
	switch {
	case len(names) == 0:
		return []Item{{Label: "step", Kind: KindVariable}}
	case len(names) == 1:
		for _, s := range p.visible(d, a) {
			if s.Root == names[0] {
				out = append(out, Item{s.Text, KindNode, s.Type(), s.Description(), ""})
			}
		}
		switch names[0] {
		case "error":
			out = members(out, t.Errors)
		case "run":
			out = members(out, t.Run)
		case "recalled":
			out = members(out, t.Recalled)
		case "previous":
			out = members(out, t.Results)
		case "result":
			if out = members(out, t.Results); a.aboutFailure() {
				out = slices.DeleteFunc(out, func(i Item) bool { return !slices.Contains([]string{"exit_code", "stdout", "stderr"}, i.Label) })
			}
		case "each":
			out = append(out, Item{Label: "value", Kind: KindField}, Item{Label: "key", Kind: KindField})
		}
	case names[0] == "step" && len(names) == 2:
		out = members(out, t.Results)
		for i := range out {
			if s := p.named(d, a, "step", names[1]); out[i].Label == "output" && s != nil {
				if typed := s.attr("output"); typed != "" {
					out[i].Detail = typed
				}
			}
		}
	default: // members of a type that is written out
		if s := p.named(d, a, names[0], names[1]); s != nil {
			typed, rest := s.attr("type"), names[2:]
			if names[0] == "step" && len(rest) > 0 && rest[0] == "output" {
				typed, rest = s.attr("output"), rest[1:]
			}
			out = typeMembers(typed, rest)
		}
	}
	return out
}

func members(out []Item, list []reference.Member) []Item {
	for _, m := range list {
		out = append(out, Item{Label: m.Name, Kind: KindField, Detail: m.Type, Doc: m.Doc})
	}
	return out
}

// visible are the symbols that a value can read.
func (p *Program) visible(d *Doc, a *Attr) []*Symbol {
	scope := around(a.Block, d)
	return slices.DeleteFunc(p.Symbols(), func(s *Symbol) bool { return s.Scope != "" && scope != "" && s.Scope != scope })
}

// named returns a symbol that a value can read, or nil.
func (p *Program) named(d *Doc, a *Attr, root, name string) *Symbol {
	s, _ := p.table().meant(mention{Location: Location{Doc: d}, text: name, roots: []string{root}, scope: around(a.Block, d), dash: true})
	return s
}

// typeMembers are the members of an object type in a text, below a path.
func typeMembers(typed string, path []string) (out []Item) {
	tokens, _ := hclsyntax.LexExpression([]byte(typed), "", startPos)
	depth, want := 0, 0 // of braces, and of the path
	for i := 0; i+2 < len(tokens); i++ {
		switch t := tokens[i]; t.Type {
		case hclsyntax.TokenOBrace:
			depth++
		case hclsyntax.TokenCBrace:
			if depth--; depth < want {
				return out // the object that the path leads to has ended
			}
		case hclsyntax.TokenIdent:
			if tokens[i+1].Type != hclsyntax.TokenEqual || depth != want+1 {
				continue
			}
			if want < len(path) {
				if string(t.Bytes) == path[want] {
					want++
				}
				continue
			}
			end, open := i+2, 0
			for ; end < len(tokens); end++ {
				switch tokens[end].Type {
				case hclsyntax.TokenOBrace, hclsyntax.TokenOParen, hclsyntax.TokenOBrack:
					open++
				case hclsyntax.TokenCBrace, hclsyntax.TokenCParen, hclsyntax.TokenCBrack:
					open--
				}
				if k := tokens[end].Type; open < 0 || open == 0 && (k == hclsyntax.TokenComma || k == hclsyntax.TokenNewline) || k == hclsyntax.TokenEOF {
					break
				}
			}
			from := tokens[i+2].Range.Start.Byte
			out = append(out, Item{Label: string(t.Bytes), Kind: KindField, Detail: short(typed[from:max(from, tokens[min(end, len(tokens)-1)].Range.Start.Byte)])})
		}
	}
	return out
}

// attr is the text of an attribute of the symbol's block, or "".
func (s *Symbol) attr(name string) string {
	for _, a := range s.Block.Attrs {
		if a.Text == name {
			return strings.TrimSpace(string(s.Doc.Src[a.Value.From:a.Value.To]))
		}
	}
	return ""
}

// Type says in short what a symbol is: its type, its kind and its action.
func (s *Symbol) Type() string {
	switch {
	case s.Attr != nil:
		return short(string(s.Doc.Src[s.Attr.Value.From:s.Attr.Value.To]))
	case s.Root == "var" || s.Root == "input":
		if t := s.attr("type"); t != "" {
			return short(t)
		}
		return "any"
	case s.Root == "step" && s.Block.Kind.Text == "step":
		for _, word := range []string{"run", "agent", "call", "http", "approve", "wait"} {
			if s.attr(word) != "" || slices.ContainsFunc(s.Block.Blocks, func(b *Block) bool { return b.Kind.Text == word }) {
				return "step, " + word
			}
		}
	}
	return s.Block.Kind.Text
}

// Description is the attribute description, without quotes.
func (s *Symbol) Description() string { return strings.Trim(s.attr("description"), `"`) }

// short cuts a text to one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 80 {
		text = string(r[:79]) + "…"
	}
	return text
}
