package format

import (
	"bytes"
	"iter"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// token is a word of the language. A whole string or heredoc is one, of the kind [literal].
type token struct {
	text   []byte
	kind   hclsyntax.TokenType
	width  int32 // columns; 0 for what takes several lines
	blanks int32 // before it
}

// literal is the kind of a token that is a whole string or heredoc.
const literal = hclsyntax.TokenQuotedLit

// chunk is how much text hcl's scanner gets at once, in bytes: its tokens take a hundred times that.
const chunk = 64 << 10

// scan divides a text into tokens. A comment that ends its line is one without the line end, and a newline.
func scan(src []byte) iter.Seq[token] { return scanBy(src, chunk) }

func scanBy(src []byte, chunk int) iter.Seq[token] {
	return func(yield func(token) bool) {
		src, size := src, chunk
		for len(src) > 0 {
			lexed, n := lex(src, size)
			if n == 0 {
				size *= 2 // no line ends outside of strings in there
				continue
			}
			if !words(src, lexed, yield) {
				return
			}
			src, size = src[n:], chunk
		}
	}
}

// lex gives the tokens of the lines that end within the first bytes of a text, and the length of these lines; 0 if there
// are none. Between two lines, outside of strings and comments, hcl's scanner can begin anew. A comment that is cut off
// shows as a slash with a star behind it, which has no other meaning.
func lex(src []byte, size int) (hclsyntax.Tokens, int) {
	if size >= len(src) {
		lexed, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
		return lexed, len(src)
	}
	lexed, _ := hclsyntax.LexConfig(src[:size], "", hcl.InitialPos)
	depth, keep := 0, 0
	for i, t := range lexed {
		depth += nests(t.Type)
		if t.Type == hclsyntax.TokenStar && i > 0 && lexed[i-1].Type == hclsyntax.TokenSlash && lexed[i-1].Range.End == t.Range.Start {
			break
		}
		if depth == 0 && t.Range.End.Byte > 0 && src[t.Range.End.Byte-1] == '\n' && t.Range.End.Byte < size {
			keep = i + 1
		}
	}
	if keep == 0 {
		return nil, 0
	}
	return lexed[:keep], lexed[keep-1].Range.End.Byte
}

// nests tells whether a token begins (1) or ends (-1) a string or heredoc.
func nests(t hclsyntax.TokenType) int {
	switch t {
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		return 1
	case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		return -1
	}
	return 0
}

// words hands on the tokens that hcl's scanner found, strings and heredocs as one each.
func words(src []byte, lexed hclsyntax.Tokens, yield func(token) bool) bool {
	at := 0 // the end of the token before
	for i := 0; i < len(lexed); i++ {
		t := lexed[i]
		blanks := int32(t.Range.Start.Byte - at)
		more := true
		switch t.Type {
		case hclsyntax.TokenEOF:
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			i = closing(lexed, i)
			r := hcl.RangeBetween(t.Range, lexed[i].Range)
			text := bytes.TrimRight(src[r.Start.Byte:r.End.Byte], " \t") // behind the marker that ends a heredoc
			more = yield(token{text, literal, columns(r), blanks})
		case hclsyntax.TokenComment:
			text, ended := bytes.CutSuffix(src[t.Range.Start.Byte:t.Range.End.Byte], []byte("\n"))
			more = yield(token{bytes.TrimRight(text, " \t"), t.Type, columns(t.Range), blanks}) && (!ended || yield(token{kind: hclsyntax.TokenNewline}))
		case hclsyntax.TokenNewline:
			more = yield(token{kind: hclsyntax.TokenNewline})
		default:
			more = yield(token{src[t.Range.Start.Byte:t.Range.End.Byte], t.Type, columns(t.Range), blanks})
		}
		if !more {
			return false
		}
		at = lexed[i].Range.End.Byte
	}
	return true
}

// closing finds the token that ends the string or heredoc which begins at i.
func closing(lexed hclsyntax.Tokens, i int) int {
	for depth := 0; i < len(lexed); i++ {
		if depth += nests(lexed[i].Type); depth == 0 {
			return i
		}
	}
	return len(lexed) - 1
}

func columns(r hcl.Range) int32 {
	if r.Start.Line != r.End.Line {
		return 0
	}
	return int32(r.End.Column - r.Start.Column)
}

// same tells whether a text has the tokens of the lines, and no others; empty lines and blanks do not count.
func same(lines []line, text []byte) bool {
	i, j := 0, 0
	for t := range scan(text) {
		switch {
		case t.kind == hclsyntax.TokenNewline && j == 0:
		case i == len(lines):
			return false
		case t.kind == hclsyntax.TokenNewline:
			if j != len(lines[i].tokens) {
				return false
			}
			i, j = i+1, 0
		case j == len(lines[i].tokens) || t.kind != lines[i].tokens[j].kind || !bytes.Equal(t.text, lines[i].tokens[j].text):
			return false
		default:
			j++
		}
	}
	return i == len(lines) && j == 0
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
