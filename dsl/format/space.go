package format

import "github.com/hashicorp/hcl/v2/hclsyntax"

// space decides which tokens of the lines have a blank between them. How far aligned ones stand apart is for [align].
func space(lines []line) {
	var left, prior token // the two before, comments left out; the zero token if there is none
	for i := range lines {
		for j := range lines[i].tokens {
			t := &lines[i].tokens[j]
			switch {
			case j == 0:
				t.blanks = 0
			case t.kind == hclsyntax.TokenComment || lines[i].tokens[j-1].kind == hclsyntax.TokenComment || apart(prior, left, *t):
				t.blanks = 1
			default:
				t.blanks = 0
			}
			if t.kind != hclsyntax.TokenComment {
				prior, left = left, *t
			}
		}
	}
}

// apart tells whether a blank stands between two neighbours of a line; prior is what precedes them.
func apart(prior, left, right token) bool {
	l, r := left.kind, right.kind
	switch {
	case r == hclsyntax.TokenComma || r == hclsyntax.TokenEllipsis:
		return false
	case l == hclsyntax.TokenComma:
		return true
	case l == hclsyntax.TokenNumberLit && r == hclsyntax.TokenDot:
		return right.blanks > 0 // 1 .5 and 1.5 are two things
	case l == hclsyntax.TokenDot || r == hclsyntax.TokenDot, l == hclsyntax.TokenDoubleColon || r == hclsyntax.TokenDoubleColon:
		return false
	case l == hclsyntax.TokenOBrace || r == hclsyntax.TokenCBrace:
		return !(l == hclsyntax.TokenOBrace && r == hclsyntax.TokenCBrace)
	case left.opens() || right.closes():
		return false
	case keyword(prior, left):
		return true
	case r == hclsyntax.TokenOParen:
		return l != hclsyntax.TokenIdent && l != hclsyntax.TokenBang && !negates(prior, left)
	case r == hclsyntax.TokenOBrack:
		splat := l == hclsyntax.TokenStar && prior.kind == hclsyntax.TokenDot
		return !left.operand() && !splat && l != hclsyntax.TokenBang && !negates(prior, left)
	case l == hclsyntax.TokenBang:
		return false
	}
	return !negates(prior, left)
}

// keyword tells whether a word is the "in" or "if" of an expression with for: no name can stand behind an operand.
func keyword(before, t token) bool {
	return before.operand() && t.kind == hclsyntax.TokenIdent && (string(t.text) == "in" || string(t.text) == "if")
}

// negates tells whether a minus is a sign, not the operator between two operands.
func negates(before, t token) bool {
	if t.kind != hclsyntax.TokenMinus {
		return false
	}
	return !before.operand() || string(before.text) == "in" || string(before.text) == "if"
}
