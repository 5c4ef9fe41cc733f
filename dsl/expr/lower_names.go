package expr

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/flowrun/flowrun/dsl/ir"
)

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
		return l.refuse(at, "$env in a condition", "Read each name separately, such as step.build.output, so that flowrun can check it before the run.")
	}
	r := &ref{span: at, ref: ir.Ref{Root: n.Value}, name: at, attr: at}
	l.reads = append(l.reads, r.ref)
	return r
}

func (l *condLowerer) pointer(n *ast.PointerNode) node {
	at := l.loc(n)
	if len(l.inside) == 0 {
		return l.refuse(at, "# outside of a predicate", "It is the current member in all, any, filter and the like.")
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
	return l.refuse(at, fmt.Sprintf("Unknown pointer #%s", n.Name), "Use # (the member), #index, or #acc in reduce.")
}

func (l *condLowerer) member(n *ast.MemberNode) node {
	x := l.lower(n.Node)
	name, literal := n.Property.(*ast.StringNode)
	if !literal {
		key := l.lower(n.Property)
		return &index{l.throughBracket(join(x.at(), key.at())), x, key}
	}
	l.nodes++
	here := l.loc(name)
	whole := here
	if here.start < len(l.text) && strings.IndexByte("'\"`", l.text[here.start]) >= 0 { // ["name"], and not .name
		whole = l.throughBracket(here)
	}
	if r, ok := x.(*ref); ok && l.extend(r, name.Value, here) {
		r.span = join(r.span, whole)
		return r
	}
	return &member{join(x.at(), whole), x, name.Value, here}
}

// throughBracket extends a span that ends in front of a closing bracket through that bracket.
func (l *condLowerer) throughBracket(at span) span {
	if rest := strings.TrimLeft(l.text[at.end:], " \t\r\n"); strings.HasPrefix(rest, "]") {
		at.end = len(l.text) - len(rest) + 1
	}
	return at
}

// extend makes the name a part of the reference, if its root's shape has room for it.
func (l *condLowerer) extend(r *ref, name string, here span) bool {
	sh := shapes[r.ref.Root]
	switch {
	case sh == plainRoot:
		return false
	case sh == lastRoot && !r.step:
		if r.step = name == "step"; !r.step {
			return false
		}
	case r.ref.Name == "":
		r.ref.Name, r.name = name, here
	case (sh == stepRoot || sh == lastRoot) && r.ref.Attr == "":
		r.ref.Attr, r.attr = name, here
	default:
		return false
	}
	l.reads[len(l.reads)-1] = r.ref
	return true
}
