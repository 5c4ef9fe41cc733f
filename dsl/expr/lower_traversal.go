package expr

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

func (l *hclLowerer) lookup(name string) (int, bool) {
	for i := len(l.names) - 1; i >= 0; i-- {
		if l.names[i].name == name {
			return l.names[i].slot, true
		}
	}
	return 0, false
}

// traversal splits a.b.c into the reference that the scope answers for and the members below it.
func (l *hclLowerer) traversal(t hcl.Traversal) node {
	root := t.RootName()
	at := l.span(t[0].SourceRange())
	if slot, ok := l.lookup(root); ok {
		return l.steps(&bound{at, slot}, t[1:])
	}
	r := &ref{span: at, ref: ir.Ref{Root: root}, name: at, attr: at}
	rest := t[1:]
	next := func() (string, span, bool) {
		if len(rest) == 0 {
			return "", span{}, false
		}
		s := l.span(rest[0].SourceRange())
		switch step := rest[0].(type) {
		case hcl.TraverseAttr:
			if s.end-s.start > len(step.Name) {
				s.start = s.end - len(step.Name)
			}
			rest = rest[1:]
			return step.Name, s, true
		case hcl.TraverseIndex:
			if step.Key.Type() == cty.String {
				rest = rest[1:]
				return step.Key.AsString(), s, true
			}
		}
		return "", span{}, false
	}
	takeRef(r, next)
	l.reads = append(l.reads, r.ref)
	return l.steps(r, rest)
}

// takeRef takes as many names as belong to a reference of its root's shape.
func takeRef(r *ref, next func() (string, span, bool)) {
	sh := shapes[r.ref.Root]
	if sh == lastRoot {
		name, at, ok := next()
		if !ok || name != "step" {
			return // which is a fault: a root of declarations without a name
		}
		r.step, r.span = true, join(r.span, at)
	}
	if sh == plainRoot {
		return
	}
	if name, at, ok := next(); ok {
		r.ref.Name, r.name, r.span = name, at, join(r.span, at)
		if sh == stepRoot || sh == lastRoot {
			if attr, at, ok := next(); ok {
				r.ref.Attr, r.attr, r.span = attr, at, join(r.span, at)
			}
		}
	}
}

// steps puts the members of a path on x.
func (l *hclLowerer) steps(x node, t hcl.Traversal) node {
	if len(t) > maxPath {
		l.add(l.span(t.SourceRange()), codeTooLarge, fmt.Sprintf("A path of %d names", len(t)), fmt.Sprintf("The limit is %d.", maxPath))
		return x
	}
	for _, step := range t {
		at := l.span(step.SourceRange())
		switch step := step.(type) {
		case hcl.TraverseAttr:
			here := at
			if here.end-here.start > len(step.Name) {
				here.start = here.end - len(step.Name)
			}
			x = &member{join(x.at(), at), x, step.Name, here}
		case hcl.TraverseIndex:
			key, err := fromLiteral(step.Key)
			if err != nil {
				l.add(at, codeTooLarge, "An index that flowrun cannot hold", capital(err.Error())+".")
			}
			x = &index{join(x.at(), at), x, &lit{at, key}}
		default:
			l.add(at, codeSyntax, "An unsupported kind of reference", "Write a name or an index in brackets.")
		}
	}
	return x
}
