package expr

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Mention is a place in a file at which an expression begins to read a root: product in product.output. Start and End are offsets.
type Mention struct {
	Root       string
	Start, End int
}

// Mentions lists where an expression reads one of some roots, in the order of the text. What only looks like a root is left out: the key
// of an object, a function, a name that a for or a let has made. A condition is a literal string, as for [Condition]; an
// expression that is none has no mentions.
func Mentions(x hclsyntax.Expression, src []byte, condition bool, roots []string) []Mention {
	if condition {
		return conditionMentions(x, src, roots)
	}
	w := &mentionWalker{roots: roots}
	_ = hclsyntax.Walk(x, w)
	slices.SortFunc(w.found, func(a, b Mention) int { return a.Start - b.Start })
	return w.found
}

// Readable reports whether a condition is a literal string that can be parsed. It looks at no names.
func Readable(x hclsyntax.Expression, src []byte) bool {
	literal, found := conditionLiteral(x, src)
	if found != nil {
		return false
	}
	rw, depth := rewrite(decodeLiteral(literal, src).text, func([]string) (bool, bool) { return false, false }, false)
	if depth > MaxConditionDepth || len(rw.text) > MaxConditionBytes {
		return false
	}
	l, _ := parseCondition(rw.text)
	return len(l.list) == 0
}

func conditionMentions(x hclsyntax.Expression, src []byte, roots []string) (out []Mention) {
	literal, found := conditionLiteral(x, src)
	if found != nil {
		return nil
	}
	d := decodeLiteral(literal, src)
	scan := condScanner{in: d.text, names: func([]string) (bool, bool) { return false, false }}
	for scan.i < len(d.text) {
		start := scan.i
		scan.step()
		if !wordStart(d.text[start]) || start > 0 && d.text[start-1] == '.' {
			continue
		}
		end := start
		for end < len(d.text) && wordByte(d.text[end]) {
			end++
		}
		if root := d.text[start:end]; slices.Contains(roots, root) && isRead(d.text, start, end) {
			out = append(out, Mention{root, d.at(start), d.at(end-1) + 1})
		}
	}
	return out
}

// isRead reports whether a name in a condition is read there: it is not a key, no function, and no let of the condition makes it.
func isRead(text string, start, end int) bool {
	const blanks = " \t\r\n"
	before, after := strings.TrimRight(text[:start], blanks), strings.TrimLeft(text[end:], blanks)
	if strings.HasPrefix(after, "(") || strings.HasPrefix(after, ":") && (strings.HasSuffix(before, "{") || strings.HasSuffix(before, ",")) {
		return false
	}
	words := strings.Fields(strings.ReplaceAll(text, "=", " = "))
	for i := 1; i+1 < len(words); i++ {
		if words[i-1] == "let" && words[i] == text[start:end] && words[i+1] == "=" {
			return false
		}
	}
	return true
}

// mentionWalker collects the mentions of a value.
type mentionWalker struct {
	roots  []string
	scopes []hclsyntax.ChildScope // of each for around
	found  []Mention
}

// Enter implements [hclsyntax.Walker].
func (w *mentionWalker) Enter(n hclsyntax.Node) hcl.Diagnostics {
	switch n := n.(type) {
	case hclsyntax.ChildScope:
		w.scopes = append(w.scopes, n)
	case *hclsyntax.ScopeTraversalExpr:
		root := n.Traversal.RootName()
		made := slices.ContainsFunc(w.scopes, func(s hclsyntax.ChildScope) bool { _, made := s.LocalNames[root]; return made })
		if slices.Contains(w.roots, root) && !made {
			at := n.Traversal[0].SourceRange()
			w.found = append(w.found, Mention{root, at.Start.Byte, at.End.Byte})
		}
	}
	return nil
}

// Exit implements [hclsyntax.Walker].
func (w *mentionWalker) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if _, scope := n.(hclsyntax.ChildScope); scope {
		w.scopes = w.scopes[:len(w.scopes)-1]
	}
	return nil
}
