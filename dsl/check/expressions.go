package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// expressions checks the attributes of a block that are expressions, in file order.
func (c *checker) expressions(b *Block, env func(attr string) *expr.Env) {
	for _, src := range b.Src.Body.Attrs {
		if a := b.Attrs[src.Name]; a != nil {
			c.expression(b, a, env(src.Name))
		}
	}
}

// expression checks one attribute, once.
func (c *checker) expression(b *Block, a *Attr, env *expr.Env) {
	if !a.done {
		found := c.evaluate(a, env)
		c.in(b, append(found, c.secret(b, a)...))
	}
}

// evaluate finds out what an attribute's expression is in an environment, and what is wrong with it there.
func (c *checker) evaluate(a *Attr, env *expr.Env) (list diag.List) {
	a.done = true
	switch a.Schema.Kind {
	case schema.Value:
		if a.Schema.RefKind != "" && expr.Refers(a.Src.Expr(), a.root()) {
			list = c.members(a, env)
			break
		}
		a.Expr, list = c.typed(a, env)
		a.members(env)
		if a.Expr != nil && a.Src.Name == "command" {
			if list = append(list, arguments(a, a.Expr)...); !list.HasErrors() {
				list = append(list, c.argv(a, env)...)
			}
		}
	case schema.Duration:
		if a.Expr, a.known, list = expr.Known(a.Src.Expr(), a.Src.File.Src, env); a.Expr == nil {
			break
		}
		if a.Expr.Type.Kind == value.NumberT {
			list = append(list, withoutUnit(a))
		} else {
			list = append(list, expr.Conform(a.Expr, value.StringType, a.Src.Name, a.span())...)
			if !list.HasErrors() {
				list = append(list, bounded(a)...)
			}
		}
	case schema.Condition:
		a.Expr, list = expr.Condition(a.Src.Expr(), a.Src.File.Src, env)
	case schema.Command:
		list = c.command(a, env)
	case schema.Ref:
		list = append(a.choice(env), c.members(a, env)...)
	case schema.Refs:
		list = c.members(a, env)
	case schema.Join:
		list = c.join(a, env)
	case schema.Env:
		list = c.environment(a, env)
	case schema.Quotas:
		list = c.units(a, env)
	}
	laidOut(a.Expr)
	for _, e := range a.Env { // any order: each for itself
		laidOut(e)
	}
	for _, e := range a.Members { // any order: each for itself
		laidOut(e)
	}
	for i := range a.Values {
		laidOut(&a.Values[i])
	}
	for _, e := range a.picks {
		laidOut(e)
	}
	return list
}

// choice checks what decides between two references.
func (a *Attr) choice(env *expr.Env) (list diag.List) {
	if a.Choice == nil {
		return nil
	}
	if a.Expr, list = expr.Value(a.Choice, a.Src.File.Src, env); a.Expr != nil {
		list = append(list, expr.Conform(a.Expr, value.BoolType, "the condition of "+a.Src.Name, expr.Range(a.Choice.Range()))...)
	}
	return list
}

// laidOut brings a value's text into the form that does not depend on its layout, so that formatting a file leaves the
// hash of what it means as it is.
func laidOut(e *ir.Expr) {
	if e != nil && e.Kind == ir.HCL && !plainName().MatchString(e.Text) {
		e.Text = format.Value(e.Text)
	}
}

var plainName = lazyregexp.New(`^[a-z]+(\.[A-Za-z0-9_-]+)*$`)

// withoutUnit reports a duration that is a number.
func withoutUnit(a *Attr) diag.Diagnostic {
	n := "N"
	if a.known != nil {
		n = value.Text(a.known.Const)
	}
	return diag.Diagnostic{Code: "F0204", Subject: a.span(), Summary: a.Src.Name + " needs a unit",
		Detail: fmt.Sprintf("A duration is text with a unit, %s. For seconds write  %s = \"%ss\".", value.DurationForms, a.Src.Name, n)}
}

// typed checks a value and that its type fits.
func (c *checker) typed(a *Attr, env *expr.Env) (*ir.Expr, diag.List) {
	e, known, list := expr.Known(a.Src.Expr(), a.Src.File.Src, env)
	if e == nil || list.HasErrors() {
		return nil, list
	}
	if b, is := e.Const.(bool); is && e.Kind == ir.Const && a.Schema.True > 0 {
		n := 0
		if b {
			n = a.Schema.True
		}
		e = ir.Lit(float64(n), value.IntType)
		known = e
	}
	a.known = known
	switch want, found := a.Schema.Want, bounded(a); {
	case found != nil:
		list = append(list, found...)
	case want.IsAny():
	case want.Kind == value.StringT:
		list = append(list, textual(e, a.Src.Name, a.span())...)
	default:
		list = append(list, expr.Conform(e, want, a.Src.Name, a.span())...)
	}
	return e, list
}

// textual checks a value that becomes text: strings, numbers and bools do, nothing else. A constant becomes text here.
func textual(e *ir.Expr, what string, at diag.Range) diag.List {
	switch e.Type.Kind {
	case value.Bool, value.NumberT:
		if e.Kind == ir.Const && e.Const != nil {
			*e = *ir.Lit(value.Text(e.Const), value.StringType)
			return nil
		}
		if !e.Type.Nullable {
			return nil
		}
	case value.ListT, value.SetT, value.MapT, value.TupleT, value.ObjectT:
		return diag.List{{Code: "F0228", Subject: at, Summary: fmt.Sprintf("%s must be text, and this is %s", what, aKind(e.Type)),
			Detail: "Strings, numbers and bools become text automatically. For other values, write jsonencode(…), or join(\", \", …) for a list."}}
	}
	return expr.Conform(e, value.StringType, what, at)
}
