package expr

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// hclLowerer turns hclsyntax's tree into ours. It never stops at a fault: what it cannot lower becomes null.
type hclLowerer struct {
	findings
	base  int // byte offset in the file of the text that spans are relative to
	slots int
	reads []ir.Ref
	names []boundName // innermost last
	anon  map[*hclsyntax.AnonSymbolExpr]int
	depth int
}

type boundName struct {
	name string
	slot int
}

func (l *hclLowerer) span(r hcl.Range) span { return span{r.Start.Byte - l.base, r.End.Byte - l.base} }

func (l *hclLowerer) slot() int { l.slots++; return l.slots - 1 }

func (l *hclLowerer) lower(x hclsyntax.Expression) node {
	l.depth++
	defer func() { l.depth-- }()
	at := l.span(x.Range())
	if l.depth > maxTreeDepth {
		if l.depth == maxTreeDepth+1 {
			l.add(at, codeTooLarge, "An expression that is nested too deep", fmt.Sprintf("The limit is %d nested operators and brackets. Move parts of it to locals.", maxTreeDepth))
		}
		return &lit{at, nil}
	}
	switch x := x.(type) {
	case *hclsyntax.LiteralValueExpr:
		return l.literal(x, at)
	case *hclsyntax.ParenthesesExpr:
		return l.lower(x.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return l.lower(x.Wrapped)
	case *hclsyntax.TemplateExpr:
		return l.template(x, at)
	case *hclsyntax.TemplateJoinExpr:
		return &call{at, functions["\x00joinparts"], []node{l.lower(x.Tuple)}, false}
	case *hclsyntax.ScopeTraversalExpr:
		return l.traversal(x.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		return l.steps(l.lower(x.Source), x.Traversal)
	case *hclsyntax.IndexExpr:
		return &index{at, l.lower(x.Collection), l.lower(x.Key)}
	case *hclsyntax.SplatExpr:
		return l.splat(x, at)
	case *hclsyntax.AnonSymbolExpr:
		return &bound{at, l.anon[x]}
	case *hclsyntax.FunctionCallExpr:
		return l.call(x, at)
	case *hclsyntax.ConditionalExpr:
		return &cond{at, l.lower(x.Condition), l.lower(x.TrueResult), l.lower(x.FalseResult)}
	case *hclsyntax.BinaryOpExpr:
		return &binary{span: at, op: binaryOps[x.Op], l: l.lower(x.LHS), r: l.lower(x.RHS)}
	case *hclsyntax.UnaryOpExpr:
		op := "-"
		if x.Op == hclsyntax.OpLogicalNot {
			op = "!"
		}
		return &unary{at, op, l.lower(x.Val)}
	case *hclsyntax.TupleConsExpr:
		items := make([]node, len(x.Exprs))
		for i, e := range x.Exprs {
			items[i] = l.lower(e)
		}
		return &tuple{at, items}
	case *hclsyntax.ObjectConsExpr:
		return l.object(x, at)
	case *hclsyntax.ObjectConsKeyExpr:
		return l.objectKey(x, at)
	case *hclsyntax.ForExpr:
		return l.forEach(x, at)
	}
	l.add(at, codeSyntax, "An unsupported kind of expression", "Write it in another way.")
	return &lit{at, nil}
}

var binaryOps = map[*hclsyntax.Operation]string{
	hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=",
	hclsyntax.OpGreaterThan: ">", hclsyntax.OpGreaterThanOrEqual: ">=", hclsyntax.OpLessThan: "<", hclsyntax.OpLessThanOrEqual: "<=",
	hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpMultiply: "*", hclsyntax.OpDivide: "/", hclsyntax.OpModulo: "%",
}

// literal takes null, bools, strings and numbers. Numbers leave the arbitrary precision of the parser here.
func (l *hclLowerer) literal(x *hclsyntax.LiteralValueExpr, at span) node {
	v, err := fromLiteral(x.Val)
	if err != nil {
		l.add(at, codeTooLarge, "A number that flowrun cannot hold", capital(err.Error())+".")
		v = 1.0 // a number still, for what stands around it
	}
	return &lit{at, v}
}

var maxNumber, minNumber = big.NewFloat(value.MaxNumber), big.NewFloat(-value.MaxNumber)

var errTooManyDigits = errors.New("the number is beyond 2^53 and would lose digits; write it as a string")

func fromLiteral(v cty.Value) (value.Value, error) {
	switch {
	case v.IsNull() || !v.IsKnown():
		return nil, nil
	case v.Type() == cty.Bool:
		return v.True(), nil
	case v.Type() == cty.String:
		return v.AsString(), nil
	case v.Type() == cty.Number:
		b := v.AsBigFloat()
		if exp := b.MantExp(nil); exp > 64 || exp < -1400 { // outside of float64 or far beyond 2^53: don't even convert
			if exp < 0 {
				return nil, fmt.Errorf("the number is too close to zero")
			}
			return nil, errTooManyDigits
		}
		if b.Cmp(maxNumber) > 0 || b.Cmp(minNumber) < 0 {
			return nil, errTooManyDigits
		}
		f, _ := b.Float64()
		return value.Number(f)
	}
	return nil, fmt.Errorf("a literal of type %s", v.Type().FriendlyName())
}

func (l *hclLowerer) template(x *hclsyntax.TemplateExpr, at span) node {
	parts := make([]node, len(x.Parts))
	for i, p := range x.Parts {
		parts[i] = l.lower(p)
	}
	if len(parts) == 0 {
		return &lit{at, ""}
	}
	if len(parts) == 1 {
		if s, ok := parts[0].(*lit); ok {
			if text, ok := s.v.(string); ok {
				return &lit{at, text}
			}
		}
	}
	return &template{at, parts}
}

func (l *hclLowerer) splat(x *hclsyntax.SplatExpr, at span) node {
	source := l.lower(x.Source)
	s := l.slot()
	if l.anon == nil {
		l.anon = map[*hclsyntax.AnonSymbolExpr]int{}
	}
	l.anon[x.Item] = s
	return &splat{at, s, source, l.lower(x.Each)}
}

func (l *hclLowerer) call(x *hclsyntax.FunctionCallExpr, at span) node {
	args := make([]node, len(x.Args))
	for i, a := range x.Args {
		args[i] = l.lower(a)
	}
	return makeCall(&l.findings, x.Name, at, l.span(x.NameRange), args, x.ExpandFinal, codeUnknownFunc)
}

func (l *hclLowerer) object(x *hclsyntax.ObjectConsExpr, at span) node {
	o := &object{span: at}
	seen := map[string]bool{}
	for _, item := range x.Items {
		key := l.lower(item.KeyExpr)
		if k, ok := key.(*lit); ok {
			name := textOf(k.v)
			if seen[name] {
				l.add(k.span, codeDuplicateKey, fmt.Sprintf("The object has the key %q twice", name), "Remove or rename one.")
			}
			seen[name] = true
		}
		o.keys = append(o.keys, key)
		o.vals = append(o.vals, l.lower(item.ValueExpr))
	}
	return o
}

func (l *hclLowerer) objectKey(x *hclsyntax.ObjectConsKeyExpr, at span) node {
	if !x.ForceNonLiteral {
		if name := hcl.ExprAsKeyword(x.Wrapped); name != "" {
			return &lit{at, name}
		}
		if t, ok := x.Wrapped.(*hclsyntax.ScopeTraversalExpr); ok && len(t.Traversal) > 1 {
			l.add(at, codeSyntax, "An ambiguous key: a name or a reference", "Put it in quotes if it is a name with a dot, or in parentheses if it is a reference.")
			return &lit{at, ""}
		}
	}
	return l.lower(x.Wrapped)
}

func (l *hclLowerer) forEach(x *hclsyntax.ForExpr, at span) node {
	f := &forEach{span: at, keySlot: -1, group: x.Group}
	f.coll = l.lower(x.CollExpr)
	outer := len(l.names)
	if x.KeyVar != "" {
		f.keySlot = l.slot()
		l.names = append(l.names, boundName{x.KeyVar, f.keySlot})
	}
	f.valSlot = l.slot()
	l.names = append(l.names, boundName{x.ValVar, f.valSlot})
	if x.KeyExpr != nil {
		f.key = l.lower(x.KeyExpr)
	}
	f.val = l.lower(x.ValExpr)
	if x.CondExpr != nil {
		f.cond = l.lower(x.CondExpr)
	}
	l.names = l.names[:outer]
	return f
}

// whole tells whether f is a whole number.
func whole(f float64) bool { return f == math.Trunc(f) && !math.IsInf(f, 0) }
