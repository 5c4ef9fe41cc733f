package format

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// token is a word of the language. A whole string or heredoc is one, of kind hclsyntax.TokenQuotedLit.
type token struct {
	kind   hclsyntax.TokenType
	text   []byte
	width  int // columns; 0 for what takes several lines
	blanks int // before it
}

// literal is the kind of a token that is a whole string or heredoc.
const literal = hclsyntax.TokenQuotedLit

// scan divides a text into tokens. A comment that ends its line is one without the line end, and a newline.
func scan(src []byte) []token {
	lexed, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	out := make([]token, 0, len(lexed))
	at := 0 // the end of the token before
	for i := 0; i < len(lexed); i++ {
		t := lexed[i]
		switch t.Type {
		case hclsyntax.TokenEOF:
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			end := closing(lexed, i)
			r := hcl.RangeBetween(t.Range, lexed[end].Range)
			text := bytes.TrimRight(src[r.Start.Byte:r.End.Byte], " \t") // behind the marker that ends a heredoc
			out = append(out, token{kind: literal, text: text, width: columns(r), blanks: t.Range.Start.Byte - at})
			i = end
		case hclsyntax.TokenComment:
			text, ended := bytes.CutSuffix(t.Bytes, []byte("\n"))
			text = bytes.TrimRight(text, " \t")
			out = append(out, token{kind: t.Type, text: text, width: columns(t.Range), blanks: t.Range.Start.Byte - at})
			if ended {
				out = append(out, token{kind: hclsyntax.TokenNewline})
			}
		default:
			out = append(out, token{kind: t.Type, text: t.Bytes, width: columns(t.Range), blanks: t.Range.Start.Byte - at})
		}
		at = lexed[i].Range.End.Byte
	}
	return out
}

// closing finds the token that ends the string or heredoc which begins at i.
func closing(lexed hclsyntax.Tokens, i int) int {
	depth := 0
	for ; i < len(lexed); i++ {
		switch lexed[i].Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return len(lexed) - 1
}

func columns(r hcl.Range) int {
	if r.Start.Line != r.End.Line {
		return 0
	}
	return r.End.Column - r.Start.Column
}

// same tells whether two texts are the same but for blanks and empty lines.
func same(a, b []token) bool {
	return slices.EqualFunc(bare(a), bare(b), func(x, y token) bool { return x.kind == y.kind && bytes.Equal(x.text, y.text) })
}

// bare leaves out the newlines of empty lines, and the last.
func bare(tokens []token) []token {
	out := make([]token, 0, len(tokens))
	for _, t := range tokens {
		if t.kind != hclsyntax.TokenNewline {
			out = append(out, t)
		} else if n := len(out); n > 0 && out[n-1].kind != hclsyntax.TokenNewline {
			out = append(out, token{kind: hclsyntax.TokenNewline})
		}
	}
	if n := len(out); n > 0 && out[n-1].kind == hclsyntax.TokenNewline {
		out = out[:n-1]
	}
	return out
}

func (t token) opens() bool {
	return t.kind == hclsyntax.TokenOBrace || t.kind == hclsyntax.TokenOBrack || t.kind == hclsyntax.TokenOParen
}

func (t token) closes() bool {
	return t.kind == hclsyntax.TokenCBrace || t.kind == hclsyntax.TokenCBrack || t.kind == hclsyntax.TokenCParen
}

// operand tells whether an expression can end with the token.
func (t token) operand() bool {
	switch t.kind {
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, literal, hclsyntax.TokenEllipsis:
		return true
	}
	return t.closes()
}
