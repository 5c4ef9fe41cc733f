package editor

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// Name is a word at a place. Of a quoted word, the span is without the quotes.
type Name struct {
	Text string
	Span
}

// Block is kind "label" { … }, maybe without its end.
type Block struct {
	Kind   Name
	Label  Name          // the zero Name for a block without one
	Spec   *schema.Block // nil for a kind that is not allowed there
	Parent *Block        // the top has none
	Blocks []*Block
	Attrs  []*Attr
	Span   // from the kind to behind the closing brace
	Body   Span
}

// Attr is name = value.
type Attr struct {
	Name
	Value Span
	Block *Block
	Spec  *schema.Attr // nil for an attribute that is not allowed there, or one of any name
}

// Path is a chain of names such as step.build.output, in an expression of HCL or in a condition.
type Path struct {
	Names     []Name
	Attr      *Attr
	Condition bool
}

// Doc is one text as it was read.
type Doc struct {
	*Text
	Name  string
	Top   *Block
	Paths []Path

	tokens hclsyntax.Tokens
}

// Read reads a text. A text above the bound of files gives an empty Doc.
func Read(name string, text *Text) *Doc {
	d := &Doc{Text: text, Name: name}
	d.Top = &Block{Spec: schema.Blocks[topKind(name)], Span: Span{0, len(text.Src)}, Body: Span{0, len(text.Src)}}
	if len(text.Src) > syntax.MaxFileBytes {
		return d
	}
	d.tokens, _ = hclsyntax.LexConfig(text.Src, name, hcl.Pos{Line: 1, Column: 1})
	r := &reader{Doc: d}
	r.body(d.Top)
	return d
}

// topKind is the key of the top of a file in the table of blocks.
func topKind(name string) string {
	if strings.HasSuffix(name, ".flowtest.hcl") {
		return "flowtest"
	}
	return "file"
}

// reader walks over the tokens of a text, without recursion: blocks may be as deep as they like.
type reader struct {
	*Doc
	at int
}

func (r *reader) peek(n int) hclsyntax.TokenType {
	if r.at+n < len(r.tokens) {
		return r.tokens[r.at+n].Type
	}
	return hclsyntax.TokenEOF
}

func span(t hclsyntax.Token) Span { return Span{t.Range.Start.Byte, t.Range.End.Byte} }

// body reads all blocks and attributes.
func (r *reader) body(top *Block) {
	in := top
	for r.at < len(r.tokens) {
		switch t := r.tokens[r.at]; t.Type {
		case hclsyntax.TokenCBrace:
			if in.Parent != nil {
				in.Body.To, in.Span.To = t.Range.Start.Byte, t.Range.End.Byte
				in = in.Parent
			}
			r.at++
		case hclsyntax.TokenIdent:
			if r.peek(1) == hclsyntax.TokenEqual {
				r.attr(in)
			} else if b := r.header(in); b != nil {
				in = b
			}
		default:
			r.at++
		}
	}
	for ; in.Parent != nil; in = in.Parent {
		in.Body.To, in.Span.To = len(r.Src), len(r.Src)
	}
}

// header reads the head of a block; nil if the line does not begin one.
func (r *reader) header(in *Block) *Block {
	t := r.tokens[r.at]
	b := &Block{Kind: Name{string(t.Bytes), span(t)}, Parent: in, Span: span(t)}
	for r.at++; r.at < len(r.tokens); r.at++ {
		switch t := r.tokens[r.at]; t.Type {
		case hclsyntax.TokenOQuote:
			if r.peek(1) == hclsyntax.TokenCQuote {
				b.Label = Name{"", Span{t.Range.End.Byte, t.Range.End.Byte}}
			}
		case hclsyntax.TokenQuotedLit, hclsyntax.TokenIdent:
			b.Label = Name{string(t.Bytes), span(t)}
		case hclsyntax.TokenCQuote:
		case hclsyntax.TokenOBrace:
			b.Body.From = t.Range.End.Byte
			if in.Spec != nil && in.Spec.Has(b.Kind.Text) {
				b.Spec = in.Spec.Inside(b.Kind.Text)
			}
			in.Blocks = append(in.Blocks, b)
			r.at++
			return b
		default:
			return nil
		}
	}
	return nil
}

// attr reads an attribute and the paths in its value.
func (r *reader) attr(in *Block) {
	t := r.tokens[r.at]
	a := &Attr{Name: Name{string(t.Bytes), span(t)}, Block: in}
	if in.Spec != nil {
		a.Spec = in.Spec.Attr(a.Text)
	}
	from := r.at + 2
	a.Value.From = r.tokens[r.at+1].Range.End.Byte
	depth := 0
	for r.at = from; r.at < len(r.tokens); r.at++ {
		t := r.tokens[r.at]
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl,
			hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth--
		}
		line := t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComment && bytes.HasSuffix(t.Bytes, []byte("\n"))
		if depth < 0 || depth == 0 && line || t.Type == hclsyntax.TokenEOF {
			break
		}
	}
	a.Value.To = len(r.Src)
	if r.at < len(r.tokens) {
		a.Value.To = r.tokens[r.at].Range.Start.Byte
	}
	in.Attrs = append(in.Attrs, a)
	r.paths(a, r.tokens[from:min(r.at, len(r.tokens))])
}

// paths collects the paths in the tokens of a value.
func (r *reader) paths(a *Attr, tokens hclsyntax.Tokens) {
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case (t.Type == hclsyntax.TokenQuotedLit || t.Type == hclsyntax.TokenStringLit) && r.isCondition(a, tokens, i):
			for _, p := range conditionPaths(t.Bytes, t.Range.Start.Byte) {
				r.Paths = append(r.Paths, Path{p, a, true})
			}
		case t.Type == hclsyntax.TokenIdent && (i == 0 || tokens[i-1].Type != hclsyntax.TokenDot):
			names := []Name{{string(t.Bytes), span(t)}}
		chain:
			for {
				kind := func(n int) hclsyntax.TokenType {
					if i+n < len(tokens) {
						return tokens[i+n].Type
					}
					return hclsyntax.TokenEOF
				}
				switch {
				case kind(1) == hclsyntax.TokenDot && (kind(2) == hclsyntax.TokenIdent || kind(2) == hclsyntax.TokenNumberLit || kind(2) == hclsyntax.TokenStar):
					names = append(names, Name{string(tokens[i+2].Bytes), span(tokens[i+2])})
					i += 2
				case kind(1) == hclsyntax.TokenOBrack && kind(2) == hclsyntax.TokenOQuote && kind(3) == hclsyntax.TokenQuotedLit && kind(4) == hclsyntax.TokenCQuote && kind(5) == hclsyntax.TokenCBrack:
					names = append(names, Name{string(tokens[i+3].Bytes), span(tokens[i+3])})
					i += 5
				default:
					break chain
				}
			}
			r.Paths = append(r.Paths, Path{names, a, false})
		}
	}
}

// isCondition reports whether the literal at i of a value is a condition.
func (r *reader) isCondition(a *Attr, tokens hclsyntax.Tokens, i int) bool {
	if a.Spec == nil {
		return false
	}
	switch a.Spec.Kind {
	case schema.Condition, schema.Conditions, schema.Join:
		return true
	case schema.Replies:
		for i -= 2; i >= 1; i-- { // the name before the equals sign
			if tokens[i].Type == hclsyntax.TokenEqual && tokens[i-1].Type == hclsyntax.TokenIdent {
				for _, m := range a.Spec.Members {
					if m.Name == string(tokens[i-1].Bytes) {
						return m.Kind == schema.Condition || m.Kind == schema.Conditions
					}
				}
				return false
			}
			if tokens[i].Type == hclsyntax.TokenNewline || tokens[i].Type == hclsyntax.TokenOBrace {
				return false
			}
		}
	}
	return false
}

func wordStart(b byte) bool { return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 }
func wordByte(b byte) bool  { return wordStart(b) || b >= '0' && b <= '9' }

// conditionPaths finds the paths in a condition, as the text of the file has it, at an offset. A dash belongs to a name if it joins two
// words; whether the name is declared, the caller finds out.
func conditionPaths(raw []byte, offset int) (out [][]Name) {
	s := string(raw)
	word := func(i int) int {
		for i < len(s) && (wordByte(s[i]) || s[i] == '-' && i+1 < len(s) && wordByte(s[i+1])) {
			i++
		}
		return i
	}
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\'' || s[i] == '`' || s[i] == '"' || s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i = afterQuoted(s, i)
		case strings.HasPrefix(s[i:], "//"):
			return out
		case wordStart(s[i]):
			end := i
			for end < len(s) && wordByte(s[end]) {
				end++
			}
			if i > 0 && s[i-1] == '.' { // of a value that is not a name, as in (x).y
				i = end
				continue
			}
			if s[i:end] == "before" && end < len(s) && s[end] == '(' { // of tests: before('A', 'B')
				i = end + 1
				for size := quoteSize(s, i); size > 0; size = quoteSize(s, i) {
					end := afterQuoted(s, i)
					if end-size >= i+size {
						out = append(out, []Name{{"before", Span{offset + i, offset + i}}, {s[i+size : end-size], Span{offset + i + size, offset + end - size}}})
					}
					for i = end; i < len(s) && (s[i] == ' ' || s[i] == ','); {
						i++
					}
				}
				continue
			}
			names := []Name{{s[i:end], Span{offset + i, offset + end}}}
			i = end
			for i < len(s) {
				j := i
				if s[j] == '?' {
					j++
				}
				if j < len(s) && s[j] == '.' {
					j++
				}
				switch {
				case j > i && s[j-1] == '.' && j < len(s) && wordByte(s[j]):
					i = word(j)
					names = append(names, Name{s[j:i], Span{offset + j, offset + i}})
					continue
				case j < len(s) && s[j] == '[':
					size := quoteSize(s, j+1)
					end := afterQuoted(s, j+1)
					if size > 0 && end < len(s) && s[end] == ']' && end-size >= j+1+size {
						names = append(names, Name{s[j+1+size : end-size], Span{offset + j + 1 + size, offset + end - size}})
						i = end + 1
						continue
					}
				}
				break
			}
			out = append(out, names)
		default:
			i++
		}
	}
	return out
}

// quoteSize is how many bytes the quote at i has in the file; 0 if there is no quote.
func quoteSize(s string, i int) int {
	switch {
	case i >= len(s):
		return 0
	case s[i] == '\'' || s[i] == '`' || s[i] == '"':
		return 1
	case strings.HasPrefix(s[i:], `\"`):
		return 2
	}
	return 0
}

// afterQuoted is the place behind the text that begins with the quote at i.
func afterQuoted(s string, i int) int {
	size := quoteSize(s, i)
	if size == 0 {
		return i
	}
	quote := s[i : i+size]
	for i += size; i < len(s); i++ {
		if strings.HasPrefix(s[i:], quote) {
			return i + size
		}
		if strings.HasPrefix(s[i:], `\\`) {
			i++ // an escape of the file; with \\' it is one of the condition, too
			if size == 1 && i+1 < len(s) {
				i++
			}
		}
	}
	return len(s)
}
