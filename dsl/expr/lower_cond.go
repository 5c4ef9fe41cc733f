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

// parseCondition parses text that rewrite has prepared.
func parseCondition(text string) (*condLowerer, node) {
	l := &condLowerer{text: text}
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			l.runes = runeOffsets(text)
			break
		}
	}
	config := &conf.Config{MaxNodes: 4 * MaxConditionNodes}
	t, err := parser.ParseWithConfig(text, config)
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
		l.add(at, codeCondSyntax, "An empty condition", "Leave the attribute out where there is nothing to ask, or write true.")
	case strings.Contains(message, "maximum allowed nodes"):
		l.add(at, codeCondLarge, "A condition of too many parts", fmt.Sprintf("The limit is %d names, values and operators. Compute parts of it in locals or in a step with value.", MaxConditionNodes))
	case here == "=":
		l.add(at, codeCondSyntax, "A single = in a condition", "Conditions compare and never assign. Write == to compare.")
	case strings.Contains(message, "cannot be mixed"):
		l.add(at, codeCondSyntax, "?? beside another operator without parentheses", "Put the alternative in parentheses: (x ?? 0) > 1.")
	case here == "" || strings.Contains(message, "EOF"):
		l.add(at, codeCondSyntax, "The condition ends too early", "Something is missing behind its last part: an operand, or a closing bracket.")
	default:
		l.add(at, codeCondSyntax, fmt.Sprintf("The condition cannot be read at %q", shorten(here)), "The parser says: "+strings.TrimRight(message, ".")+". Conditions are expr-lang: a.b == 'text' and x >= 80, with quotes of the other kind than the file's, or back quotes.")
	}
}

func shorten(s string) string {
	if len(s) <= 40 {
		return s
	}
	return strings.ToValidUTF8(s[:40], "") + "…"
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
			return l.number(at, 2*value.MaxNumber)
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
		}
		return &tuple{at, items}
	case *ast.MapNode:
		return l.object(n, at)
	case *ast.CallNode:
		return l.callNode(n, at)
	case *ast.BuiltinNode:
		return l.builtin(n, at)
	case *ast.VariableDeclaratorNode:
		return l.let(n, at)
	}
	return l.refuse(at, "A part of expr-lang that conditions do not have", "Sequences with ; and byte strings are not among them. Write the condition in another way.")
}

func (l *condLowerer) number(at span, f float64) node {
	v, err := value.Number(f)
	if err != nil {
		l.add(at, codeTooLarge, "A number that flowrun cannot hold", capital(err.Error())+".")
	}
	return &lit{at, v}
}

// path lowers names: a reference to the scope with the members below it, or members of something computed.
func (l *condLowerer) path(n ast.Node) node {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return l.identifier(n)
	case *ast.PointerNode:
		return l.pointer(n)
	case *ast.ChainNode:
		return l.lower(n.Node)
	case *ast.MemberNode:
		return l.member(n)
	}
	return l.lower(n)
}

func (l *condLowerer) identifier(n *ast.IdentifierNode) node {
	at := l.loc(n)
	for i := len(l.names) - 1; i >= 0; i-- {
		if l.names[i].name == n.Value {
			return &bound{at, l.names[i].slot}
		}
	}
	switch n.Value {
	case "null":
		return &lit{at, nil}
	case "$env":
		return l.refuse(at, "$env in a condition", "Names are read one by one, such as step.build.output, so that it is known before the run that each exists.")
	}
	r := &ref{span: at, ref: ir.Ref{Root: n.Value}, name: at, attr: at}
	l.reads = append(l.reads, r.ref)
	return r
}

func (l *condLowerer) pointer(n *ast.PointerNode) node {
	at := l.loc(n)
	if len(l.inside) == 0 {
		return l.refuse(at, "# outside of a predicate", "It names the member that all, any, filter and the like look at.")
	}
	p := l.inside[len(l.inside)-1]
	switch {
	case n.Name == "":
		return &bound{at, p.item}
	case n.Name == "index":
		return &bound{at, p.index}
	case n.Name == "acc" && p.name == "reduce":
		return &bound{at, p.acc}
	}
	return l.refuse(at, fmt.Sprintf("Unknown pointer #%s", n.Name), "There are # (the member), #index, and #acc in reduce.")
}

func (l *condLowerer) member(n *ast.MemberNode) node {
	x := l.lower(n.Node)
	name, literal := n.Property.(*ast.StringNode)
	if !literal {
		key := l.lower(n.Property)
		return &index{join(x.at(), key.at()), x, key}
	}
	l.nodes++
	here := l.loc(name)
	if r, ok := x.(*ref); ok && l.extend(r, name.Value, here) {
		return r
	}
	return &member{join(x.at(), here), x, name.Value, here}
}

// extend makes the name a part of the reference, if its root's shape has room for it.
func (l *condLowerer) extend(r *ref, name string, here span) bool {
	sh := shapes[r.ref.Root]
	switch {
	case sh == plainRoot:
		return false
	case r.ref.Name == "":
		r.ref.Name, r.name = name, here
	case sh == stepRoot && r.ref.Attr == "":
		r.ref.Attr, r.attr = name, here
	default:
		return false
	}
	r.span = join(r.span, here)
	l.reads[len(l.reads)-1] = r.ref
	return true
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
				l.add(k.span, codePattern, "A pattern that cannot be used", capital(err.Error())+". A backslash is lost twice, in the file and in the condition: write the pattern in back quotes.")
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

func (l *condLowerer) args(nodes []ast.Node) []node {
	args := make([]node, len(nodes))
	for i, a := range nodes {
		args[i] = l.lower(a)
	}
	return args
}

func (l *condLowerer) callNode(n *ast.CallNode, at span) node {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return l.refuse(at, "A call of something that is not a function", "Values have no methods. Write name(x) with one of the functions of the language.")
	}
	name := callee.Value
	if name == containsFunc {
		name = "contains"
	}
	args := l.args(n.Arguments)
	whole := at
	for _, a := range args {
		whole = join(whole, a.at())
	}
	return makeCall(&l.findings, name, whole, at, args, false, codeUnknownFunc)
}

func (l *condLowerer) let(n *ast.VariableDeclaratorNode, at span) node {
	if isRoot(n.Name) || n.Name == "null" {
		return l.refuse(at, fmt.Sprintf("let %s hides a name of the language", n.Name), "Give it another name, so that a reader is never in doubt what it means.")
	}
	x := l.lower(n.Value)
	slot := l.slots
	l.slots++
	l.names = append(l.names, boundName{n.Name, slot})
	body := l.lower(n.Expr)
	l.names = l.names[:len(l.names)-1]
	return &let{join(at, body.at()), slot, x, body}
}

func isRoot(name string) bool {
	for _, r := range rootNames {
		if r == name {
			return true
		}
	}
	return false
}

// predicates are expr-lang's builtins with a body.
var predicates = map[string]bool{
	"all": true, "none": true, "any": true, "one": true, "filter": true, "map": true, "count": true, "sum": true, "find": true,
	"findIndex": true, "findLast": true, "findLastIndex": true, "groupBy": true, "sortBy": true, "reduce": true,
}

func (l *condLowerer) builtin(n *ast.BuiltinNode, at span) node {
	if predicates[n.Name] && len(n.Arguments) > 1 {
		return l.predicate(n, at)
	}
	if n.Name == "count" && len(n.Arguments) == 1 { // count(list) counts what is true in it
		x := l.lower(n.Arguments[0])
		item, idx := l.slots, l.slots+1
		l.slots += 2
		return &predicate{span: join(at, x.at()), name: "count", coll: x, body: &bound{at, item}, item: item, index: idx, acc: idx, spanOfName: at}
	}
	args := l.args(n.Arguments)
	whole := at
	for _, a := range args {
		whole = join(whole, a.at())
	}
	if n.Name == "split" && len(args) == 2 && looksLikeSeparator(args[1]) && !looksLikeSeparator(args[0]) {
		return l.refuse(whole, "split takes the separator first", "Functions mean the same in conditions and in values: split(separator, text).")
	}
	return makeCall(&l.findings, n.Name, whole, at, args, false, codeUnknownFunc)
}

func looksLikeSeparator(n node) bool {
	k, ok := n.(*lit)
	s, is := "", false
	if ok {
		s, is = k.v.(string)
	}
	return is && len(s) <= 2
}

func (l *condLowerer) predicate(n *ast.BuiltinNode, at span) node {
	if len(l.inside) == MaxPredicateDepth {
		l.add(at, codeCondLarge, fmt.Sprintf("More than %d predicates in each other", MaxPredicateDepth), "What they cost is the product of the lengths of their lists. Compute the inner ones in a step with value.")
		return &lit{at, nil}
	}
	p := &predicate{span: at, name: n.Name, spanOfName: at, coll: l.lower(n.Arguments[0])}
	p.item, p.index, p.acc = l.slots, l.slots+1, l.slots+2
	l.slots += 3
	if len(n.Arguments) > 2 {
		p.extra = l.lower(n.Arguments[2])
	}
	body, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return l.refuse(at, n.Name+" needs a predicate", "Write "+n.Name+"(list, # > 1), where # is the member.")
	}
	l.inside = append(l.inside, p)
	p.body = l.lower(body.Node)
	l.inside = l.inside[:len(l.inside)-1]
	p.span = join(at, join(p.coll.at(), p.body.at()))
	return p
}
