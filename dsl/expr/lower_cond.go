package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// condLowerer turns expr-lang's tree into ours. What it cannot lower becomes null, with a finding.
type condLowerer struct {
	findings
	text   string
	runes  []int // rune index to byte offset; nil where the text is ASCII
	slots  int
	nodes  int
	reads  []ir.Ref
	names  []boundName
	inside []*predicate
}

// condConfig is read and never written by expr-lang's parser.
var condConfig = &conf.Config{MaxNodes: 4 * MaxConditionNodes}

// parseCondition parses text that rewrite has prepared.
func parseCondition(text string) (*condLowerer, node) {
	l := &condLowerer{text: text}
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			l.runes = runeOffsets(text)
			break
		}
	}
	t, err := parser.ParseWithConfig(text, condConfig)
	if err != nil {
		l.syntaxError(err)
		return l, &lit{span{0, len(text)}, nil}
	}
	root := l.lower(t.Node)
	if l.nodes > MaxConditionNodes {
		l.list = nil
		l.add(span{0, len(text)}, codeCondLarge, fmt.Sprintf("A condition of %d parts", l.nodes), fmt.Sprintf("The limit is %d names, values and operators. Compute parts of it in locals or in a step with value.", MaxConditionNodes))
	}
	return l, root
}

func runeOffsets(text string) []int {
	offsets := make([]int, 0, len(text)+1)
	for i := range text {
		offsets = append(offsets, i)
	}
	return append(offsets, len(text))
}

func (l *condLowerer) offset(rune int) int {
	if l.runes != nil {
		return l.runes[min(max(rune, 0), len(l.runes)-1)]
	}
	return min(max(rune, 0), len(l.text))
}

func (l *condLowerer) loc(n ast.Node) span {
	at := n.Location()
	return span{l.offset(at.From), l.offset(max(at.To, at.From))}
}

// functionLike are operators that are words, and functions in other languages.
var functionLike = map[string]bool{"startsWith": true, "endsWith": true, "matches": true, "contains": true, "in": true}

func (l *condLowerer) syntaxError(err error) {
	var e *file.Error
	at, message := span{0, len(l.text)}, err.Error()
	if errors.As(err, &e) {
		at = span{l.offset(e.From), l.offset(max(e.To, e.From+1))}
		message = e.Message
	}
	here := ""
	if at.start < at.end {
		here = l.text[at.start:at.end]
	}
	switch {
	case strings.TrimSpace(l.text) == "":
		l.add(at, codeCondSyntax, "An empty condition", "Remove the attribute, or write true.")
	case strings.Contains(message, "maximum allowed nodes"):
		l.add(at, codeCondLarge, "A condition of too many parts", fmt.Sprintf("The limit is %d names, values and operators. Compute parts of it in locals or in a step with value.", MaxConditionNodes))
	case here == "=" && strings.HasPrefix(l.text[at.end:], "~"):
		l.add(at, codeCondSyntax, "Operator that does not exist", "A text is compared with a pattern by matches:  x matches '^v[0-9]+$'.")
	case functionLike[here] && strings.HasPrefix(strings.TrimSpace(l.text[at.end:]), "("):
		l.add(at, codeCondSyntax, here+" is not a function", fmt.Sprintf("It is written between two values:  x %s 'text'.", here))
	case here == "=" && strings.HasPrefix(l.text[at.end:], ">"):
		l.add(at, codeCondSyntax, "Operator that does not exist", "Write >= for greater or equal.")
	case here == "=" && strings.HasSuffix(strings.TrimSpace(l.text[:at.start]), "="):
		l.add(at, codeCondSyntax, "Operator that does not exist", "Write == to compare.")
	case here == "=":
		l.add(at, codeCondSyntax, "A single = in a condition", "Conditions compare and never assign. Write == to compare.")
	case strings.Contains(message, "cannot be mixed"):
		l.add(at, codeCondSyntax, "?? beside another operator without parentheses", "Put the alternative in parentheses: (x ?? 0) > 1.")
	case strings.Contains(message, "value out of range"):
		l.tooLarge(at)
	case here == "" || strings.Contains(message, "EOF"):
		l.add(at, codeCondSyntax, "The condition ends too early", "An operand or a closing bracket is missing at its end.")
	default:
		l.add(at, codeCondSyntax, fmt.Sprintf("The condition cannot be read at %q", shorten(here)), "The parser says: "+strings.TrimRight(message, ".")+". Conditions are expr-lang: a.b == 'text' and x >= 80, with quotes of the other kind than the file's, or back quotes.")
	}
}

func shorten(s string) string { return shortenTo(s, 40) }

func shortenTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func (l *condLowerer) refuse(at span, summary, detail string) node {
	l.add(at, codeCondRefused, summary, detail)
	return &lit{at, nil}
}

func (l *condLowerer) lower(n ast.Node) node {
	if l.nodes++; l.nodes > MaxConditionNodes {
		return &lit{}
	}
	at := l.loc(n)
	switch n := n.(type) {
	case *ast.NilNode:
		return &lit{at, nil}
	case *ast.BoolNode:
		return &lit{at, n.Value}
	case *ast.StringNode:
		return &lit{at, n.Value}
	case *ast.IntegerNode:
		if n.Value > value.MaxNumber {
			return l.tooLarge(at)
		}
		return l.number(at, float64(n.Value))
	case *ast.FloatNode:
		return l.number(at, n.Value)
	case *ast.IdentifierNode, *ast.MemberNode, *ast.ChainNode, *ast.PointerNode:
		return l.path(n)
	case *ast.SliceNode:
		return l.slice(n, at)
	case *ast.UnaryNode:
		return l.unary(n, at)
	case *ast.BinaryNode:
		return l.binary(n, at)
	case *ast.ConditionalNode:
		c, yes, no := l.lower(n.Cond), l.lower(n.Exp1), l.lower(n.Exp2)
		return &cond{join(c.at(), no.at()), c, yes, no}
	case *ast.ArrayNode:
		items := make([]node, len(n.Nodes))
		for i, e := range n.Nodes {
			items[i] = l.lower(e)
			at = join(at, items[i].at())
		}
		return &tuple{l.throughBracket(at), items}
	case *ast.MapNode:
		return l.object(n, at)
	case *ast.CallNode:
		return l.callNode(n, at)
	case *ast.BuiltinNode:
		return l.builtin(n, at)
	case *ast.VariableDeclaratorNode:
		return l.let(n, at)
	}
	return l.refuse(at, "An unsupported part of expr-lang", "It does not support sequences with ; and byte strings. Write the condition in another way.")
}

func (l *condLowerer) number(at span, f float64) node {
	v, err := value.Number(f)
	if err != nil {
		return l.tooLarge(at)
	}
	return &lit{at, v}
}

func (l *condLowerer) tooLarge(at span) node {
	l.add(at, codeTooLarge, "A number that flowrun cannot hold", capital(errTooManyDigits.Error())+".")
	return &lit{at, 1.0} // a number still, for what stands around it
}

func (l *condLowerer) slice(n *ast.SliceNode, at span) node {
	x := l.lower(n.Node)
	s := &slice{span: join(x.at(), at), x: x}
	if n.From != nil {
		s.from = l.lower(n.From)
	}
	if n.To != nil {
		s.to = l.lower(n.To)
	}
	return s
}

func (l *condLowerer) unary(n *ast.UnaryNode, at span) node {
	x := l.lower(n.Node)
	switch n.Operator {
	case "!", "not":
		return &unary{join(at, x.at()), "!", x}
	case "-":
		if k, ok := x.(*lit); ok {
			if f, ok := k.v.(float64); ok {
				return &lit{join(at, x.at()), 0 - f}
			}
		}
		return &unary{join(at, x.at()), "-", x}
	}
	return x
}

var condOps = map[string]string{"and": "&&", "or": "||", "+": "+~", "^": "**"}

func (l *condLowerer) binary(n *ast.BinaryNode, at span) node {
	left, right := l.lower(n.Left), l.lower(n.Right)
	b := &binary{span: join(left.at(), right.at()), op: n.Operator, l: left, r: right}
	if op, ok := condOps[n.Operator]; ok {
		b.op = op
	}
	if k, ok := right.(*lit); ok && b.op == "matches" {
		if pattern, ok := k.v.(string); ok {
			re, err := compilePattern(pattern)
			if err != nil {
				l.add(k.span, codePattern, "A pattern that cannot be used", capital(err.Error())+". Backslashes are interpreted twice, in the file and in the condition: write the pattern in back quotes.")
			}
			b.re, b.reSize = re, patternSize(pattern)
		}
	}
	return b
}

func (l *condLowerer) object(n *ast.MapNode, at span) node {
	o := &object{span: at}
	for _, p := range n.Pairs {
		pair, ok := p.(*ast.PairNode)
		if !ok {
			continue
		}
		o.keys = append(o.keys, l.lower(pair.Key))
		o.vals = append(o.vals, l.lower(pair.Value))
	}
	return o
}
