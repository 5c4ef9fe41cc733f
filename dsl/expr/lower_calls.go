package expr

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/flowrun/flowrun/dsl/ir"
)

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
		return l.refuse(at, "A call of something that is not a function", "Values have no methods. Write name(x) with a function of flowrun.")
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
	if name == orderFunc {
		return l.order(whole, at, args)
	}
	return makeCall(&l.findings, name, whole, at, args, false, codeUnknownFunc)
}

// orderFunc tells in a test whether a node ended before another one began. It reads the run, so it is a name and not one of the functions,
// which are pure.
const orderFunc = "before"

func (l *condLowerer) order(whole, at span, args []node) node {
	r := &ref{span: whole, ref: ir.Ref{Root: orderFunc}, name: at, attr: at, call: true}
	if end := strings.IndexByte(l.text[whole.end:], ')'); end >= 0 {
		r.span.end += end + 1
	}
	for i, to := range []struct {
		text *string
		at   *span
	}{{&r.ref.Name, &r.name}, {&r.ref.Attr, &r.attr}} {
		text, literal := "", len(args) == 2
		if literal {
			k, _ := args[i].(*lit)
			text, literal = k.name()
			*to.at = args[i].at()
		}
		if !literal || text == "" {
			l.add(r.span, codeArgCount, "before takes two paths of nodes", "Write before('build', 'review/check'), with the paths in quotes.")
			return &lit{r.span, true}
		}
		*to.text = text
	}
	l.reads = append(l.reads, r.ref)
	return r
}

func (l *condLowerer) let(n *ast.VariableDeclaratorNode, at span) node {
	if isRoot(n.Name) || n.Name == "null" {
		return l.refuse(at, fmt.Sprintf("let %s hides a name of the language", n.Name), "Use another name.")
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
		return l.refuse(whole, "split takes the separator first", "Write split(separator, text), in conditions and in values.")
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
		l.add(at, codeCondLarge, fmt.Sprintf("More than %d nested predicates", MaxPredicateDepth), "Their cost is the product of the lengths of their lists. Compute the inner ones in a step with value.")
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
