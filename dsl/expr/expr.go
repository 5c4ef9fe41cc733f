package expr

import (
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Value checks an HCL expression and makes it IR. An expression that reads nothing is evaluated now, within the bounds
// of any evaluation, and becomes an [ir.Const]; every other one becomes an [ir.HCL] with its source text. src holds the
// bytes of the whole file, so that the byte offsets in x's ranges are indexes into it. The expression is nil if and
// only if the diagnostics have an error; its Type then says what it will evaluate to.
func Value(x hclsyntax.Expression, src []byte, env *Env) (*ir.Expr, diag.List) {
	return &ir.Expr{Kind: ir.HCL, Text: string(x.Range().SliceBytes(src)), Type: value.AnyType}, nil
}

// Condition checks a condition: x must be a literal string (quoted or a heredoc) without ${}, whose text is an
// expr-lang expression of type bool. The result is nil if and only if the diagnostics have an error.
func Condition(x hclsyntax.Expression, src []byte, env *Env) (*ir.Expr, diag.List) {
	return &ir.Expr{Kind: ir.Condition, Type: value.BoolType}, nil
}

// Type reads a type expression: string, number, bool, any, list(T), set(T), map(T), tuple([T, …]) and
// object({ a = T, b = optional(T) }).
func Type(x hclsyntax.Expression) (value.Type, diag.List) {
	return value.AnyType, nil
}

// Refs lists the names that an expression reads, sorted and without repeats, without checking that they exist.
func Refs(x hclsyntax.Expression) []ir.Ref {
	return nil
}

// Name is one static reference, such as agent.backend.
type Name struct {
	Name  string
	Range diag.Range // of the whole reference
}

// Static reads a bare reference to a declaration, root.NAME, such as agent.backend for root "agent". ok is false, and
// the diagnostics say why, where x is anything else. It does not look whether the name is declared.
func Static(x hclsyntax.Expression, root string) (name Name, ok bool, diags diag.List) {
	return Name{}, false, nil
}

// StaticList reads a list of bare references, [root.A, root.B], in order. Members that are something else are left out
// and reported.
func StaticList(x hclsyntax.Expression, root string) ([]Name, diag.List) {
	return nil, nil
}

// Range is a range of hcl as diagnostics have it.
func Range(r hcl.Range) diag.Range {
	pos := func(p hcl.Pos) diag.Pos { return diag.Pos{Line: p.Line, Column: p.Column, Byte: p.Byte} }
	return diag.Range{File: r.Filename, Start: pos(r.Start), End: pos(r.End)}
}

// Evaluator implements [ir.Evaluator] for both languages. It parses a text on first use and keeps the result, so one
// evaluator serves a run, or many, and grows with the number of different texts. It is safe for concurrent use.
type Evaluator struct{}

// NewEvaluator makes an evaluator without anything parsed yet.
func NewEvaluator() *Evaluator { return &Evaluator{} }

var _ ir.Evaluator = (*Evaluator)(nil)

// Eval computes e in the scope s.
func (ev *Evaluator) Eval(e *ir.Expr, s ir.Scope) (value.Value, error) { return e.Const, nil }

// Fit says whether a value of one type can stand where another is needed.
type Fit int

// The answers of [Assignable]. Maybe means that only the value will tell, as with any.
const (
	No Fit = iota
	Maybe
	Yes
)

// Assignable says whether a value of static type have can stand where want is needed, by the rules of [value.Convert]:
// nothing is parsed or printed to make it fit.
func Assignable(have, want value.Type) Fit { return Maybe }

// Conform checks e's type against want, once, where e is used: a constant is converted, a type that can never fit is
// an error at rng, and what (such as "timeout") names the place in it. Where the answer is Maybe, the value is checked in the run.
func Conform(e *ir.Expr, want value.Type, what string, rng diag.Range) diag.List { return nil }
