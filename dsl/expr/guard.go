package expr

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// guard refuses a text that would cost HCL's parser or cty too much: the parser recurses with every bracket, prefix
// operator and conditional, and numbers have arbitrary precision. Reading tokens does not recurse.
func guard(text []byte) error {
	if len(text) > MaxValueBytes {
		return fmt.Errorf("an expression of %d bytes; the limit is %d", len(text), MaxValueBytes)
	}
	if !suspicious(text) {
		return nil
	}
	tokens, _ := hclsyntax.LexExpression(text, "", hcl.InitialPos)
	depth, prefixes, conditionals := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenTemplateSeqEnd:
			depth, prefixes = depth-1, 0
		case hclsyntax.TokenBang, hclsyntax.TokenMinus:
			prefixes++
		case hclsyntax.TokenQuestion:
			conditionals++
		case hclsyntax.TokenNumberLit:
			if err := checkNumber(t.Bytes); err != nil {
				return err
			}
			prefixes = 0
		default:
			prefixes = 0
		}
		if depth+prefixes > MaxValueDepth || conditionals > MaxConditionals {
			return fmt.Errorf("an expression that is more than %d deep in brackets and prefix operators, or has more than %d conditionals", MaxValueDepth, MaxConditionals)
		}
	}
	return nil
}

// suspicious tells in one cheap pass whether the tokens need a look: there is an exponent, a long row of digits, or enough
// of what nests.
func suspicious(text []byte) bool {
	nesting, digits := 0, 0
	for i, b := range text {
		if b >= '0' && b <= '9' {
			if digits++; digits > MaxDigits {
				return true
			}
			continue
		}
		if digits > 0 && (b == 'e' || b == 'E') && i+1 < len(text) {
			return true
		}
		if b != '.' {
			digits = 0
		}
		switch b {
		case '(', '[', '{', '!', '-', '?':
			nesting++
		}
	}
	return nesting > MaxValueDepth
}

// checkNumber bounds the digits and the exponent of a literal.
func checkNumber(literal []byte) error {
	digits, exponent, inExponent := 0, 0, false
	for _, b := range literal {
		switch {
		case b == 'e' || b == 'E':
			inExponent = true
		case b < '0' || b > '9':
		case inExponent:
			if exponent = exponent*10 + int(b-'0'); exponent > MaxExponent {
				return fmt.Errorf("a number with an exponent beyond %d", MaxExponent)
			}
		default:
			if digits++; digits > MaxDigits {
				return fmt.Errorf("a number of more than %d digits", MaxDigits)
			}
		}
	}
	return nil
}
