package format

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Value gives the text of a value that could be read, in the form in which it is stored: without comments, and with no
// more line ends than the language needs. Two values that differ in nothing else have one text, so that what a program is
// known by depends neither on its layout nor on the remarks in it.
func Value(text string) string {
	lines := split(needed(slices.Collect(scan([]byte(text)))))
	for i := range lines {
		lines[i].apart = false
	}
	space(lines)
	return string(bytes.TrimSuffix(write(lines, len(text)), []byte("\n")))
}

// needed leaves out comments, and newlines but behind heredocs and between the members of objects.
func needed(tokens []token) []token {
	out := make([]token, 0, len(tokens))
	var open []hclsyntax.TokenType
	for i, t := range tokens {
		switch {
		case t.kind == hclsyntax.TokenComment:
			continue
		case t.opens():
			open = append(open, t.kind)
		case t.closes() && len(open) > 0:
			open = open[:len(open)-1]
		case t.kind == hclsyntax.TokenNewline && !separates(out, tokens[i+1:], open):
			continue
		}
		out = append(out, t)
	}
	return out
}

// separates tells whether a newline between what was kept and what follows means something.
func separates(before, after []token, open []hclsyntax.TokenType) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1]
	if last.kind == literal && bytes.HasPrefix(last.text, []byte("<<")) {
		return true
	}
	if len(open) == 0 || open[len(open)-1] != hclsyntax.TokenOBrace || last.opens() || last.kind == hclsyntax.TokenComma || last.kind == hclsyntax.TokenNewline {
		return false
	}
	for _, t := range after {
		if t.kind != hclsyntax.TokenNewline && t.kind != hclsyntax.TokenComment {
			return !t.closes()
		}
	}
	return false
}
