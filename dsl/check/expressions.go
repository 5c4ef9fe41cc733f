package check

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
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
	if a.done {
		return
	}
	a.done = true
	var list diag.List
	switch a.Schema.Kind {
	case schema.Value:
		a.Expr, list = c.typed(a, env)
		if a.Expr != nil && a.Src.Name == "command" {
			list = append(list, arguments(a, a.Expr)...)
		}
	case schema.Duration:
		if a.Expr, list = expr.Value(a.Src.Expr, a.Src.File.Src, env); a.Expr != nil {
			list = append(list, expr.Conform(a.Expr, value.StringType, a.Src.Name, a.span())...)
			if !list.HasErrors() {
				list = append(list, bounded(a, a.Expr)...)
			}
		}
	case schema.Condition:
		a.Expr, list = expr.Condition(a.Src.Expr, a.Src.File.Src, env)
	case schema.Command:
		list = c.command(a, env)
	case schema.Env:
		list = c.environment(a, env)
	}
	laidOut(a.Expr)
	for _, e := range a.Env {
		laidOut(e)
	}
	c.in(b, list)
}

// laidOut brings a value's text into the layout that formatting would give it, so that formatting a file leaves the hash
// of what it means as it is.
func laidOut(e *ir.Expr) {
	if e != nil && e.Kind == ir.HCL && !plainName.MatchString(e.Text) {
		e.Text = string(hclwrite.Format([]byte(e.Text)))
	}
}

var plainName = regexp.MustCompile(`^[a-z]+(\.[A-Za-z0-9_-]+)*$`)

// typed checks a value and that its type fits.
func (c *checker) typed(a *Attr, env *expr.Env) (*ir.Expr, diag.List) {
	e, list := expr.Value(a.Src.Expr, a.Src.File.Src, env)
	if e == nil || list.HasErrors() {
		return nil, list
	}
	switch want, found := a.Schema.Want, bounded(a, e); {
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
		return diag.List{{Code: "F0228", Subject: at, Summary: fmt.Sprintf("%s must be text, and this is a %s", what, kindWord(e.Type)),
			Detail: "Strings, numbers and bools become text by themselves. For all else write jsonencode(…), or join(\", \", …) for a list."}}
	}
	return expr.Conform(e, value.StringType, what, at)
}

func kindWord(t value.Type) string {
	if t.Kind == value.TupleT {
		return "list"
	}
	return string(t.Kind)
}

// arguments checks a program with its arguments: a list whose members become text.
func arguments(a *Attr, e *ir.Expr) (list diag.List) {
	t, what, at := e.Type, a.Src.Name, a.span()
	members := t.Elems
	switch t.Kind {
	case value.ListT, value.SetT:
		members = []value.Type{*t.Elem}
	case value.TupleT:
	default:
		return expr.Conform(e, value.List(value.StringType), what, at)
	}
	if t.Nullable {
		return expr.Conform(e, value.List(value.StringType), what, at)
	}
	written, _ := a.Src.Expr.(*hclsyntax.TupleConsExpr)
	for i, m := range members {
		at, text := at, "VALUE"
		if written != nil && len(written.Exprs) == len(members) {
			at, text = syntax.Range(written.Exprs[i].Range()), a.Src.File.Text(written.Exprs[i])
		}
		switch m.Kind {
		case value.ListT, value.SetT, value.MapT, value.TupleT, value.ObjectT, value.Null:
			list = append(list, diag.Diagnostic{Code: "F0227", Subject: at, Summary: fmt.Sprintf("Argument %d of %s is a %s", i, what, kindWord(m)),
				Detail: "Arguments are strings, numbers or bools. concat(…) joins lists to one, jsonencode(…) makes text of a value."})
			continue
		}
		if m.Nullable && !m.IsAny() {
			list = append(list, diag.Diagnostic{Code: "F0229", Subject: at, Summary: fmt.Sprintf("Argument %d of %s may be null", i, what),
				Detail: fmt.Sprintf("Say what to use then: coalesce(%s, \"…\").", text)})
		}
	}
	return list
}

// command checks run: a list of program and arguments, or a script.
func (c *checker) command(a *Attr, env *expr.Env) diag.List {
	x, src := a.Src.Expr, a.Src.File.Src
	if t, ok := x.(*hclsyntax.TemplateExpr); ok {
		if list := scriptParts(a, t); list != nil {
			return list
		}
	}
	if w, ok := x.(*hclsyntax.TemplateWrapExpr); ok {
		return diag.List{inScript(a, w.Wrapped)}
	}
	e, list := expr.Value(x, src, env)
	if e == nil || list.HasErrors() {
		return list
	}
	a.Expr = e
	switch {
	case e.Type.Kind == value.StringT && e.Kind == ir.Const:
		a.Script = true
		if s, _ := e.Const.(string); strings.TrimSpace(s) == "" {
			list = append(list, diag.Diagnostic{Code: "F0206", Subject: a.span(), Summary: "Script without a command",
				Detail: "An empty script does nothing. Remove the step, or say what it runs."})
		}
	case e.Type.Kind == value.StringT:
		list = append(list, diag.Diagnostic{Code: "F0207", Subject: a.span(), Summary: "Script that is only known in a run",
			Detail: "A script is written out in the file, so that no value can become a command. Give the value as an argument:  run = [\"sh\", \"-c\", \"… \\\"$1\\\"\", \"sh\", " + a.Src.File.Text(x) + "]."})
	case e.Kind == ir.Const && emptyList(e.Const):
		list = append(list, diag.Diagnostic{Code: "F0208", Subject: a.span(), Summary: "List without a program",
			Detail: "The first member is the program, the others are its arguments:  run = [\"make\", \"test\"]."})
	default:
		list = append(list, arguments(a, e)...)
	}
	return list
}

func emptyList(v value.Value) bool { l, ok := v.([]any); return ok && len(l) == 0 }

// scriptParts refuses what is computed inside a script: it would become part of a command.
func scriptParts(a *Attr, t *hclsyntax.TemplateExpr) (list diag.List) {
	for _, p := range t.Parts {
		if _, ok := p.(*hclsyntax.LiteralValueExpr); !ok {
			list = append(list, inScript(a, p))
		}
	}
	return list
}

var shellName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

func inScript(a *Attr, p hclsyntax.Expression) diag.Diagnostic {
	text := a.Src.File.Text(p)
	d := diag.Diagnostic{Code: "F0209", Subject: syntax.Range(p.Range()), Summary: "Value inside a script",
		Detail: fmt.Sprintf("A value in a script could become a command. Give it as an argument instead:  run = [\"sh\", \"-c\", \"… \\\"$1\\\"\", \"sh\", %s]  or, without a shell,  run = [\"PROGRAM\", %s].", text, text)}
	if shellName.MatchString(text) {
		d.Code, d.Summary = "F0210", fmt.Sprintf("${%s} is read by flowrun, not by the shell", text)
		d.Detail = fmt.Sprintf("For the shell's own variable write $%s, or $${%s}.", text, text)
	}
	return d
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environment checks env = { NAME = value, … }: names are written out, each value is an expression of its own.
func (c *checker) environment(a *Attr, env *expr.Env) (list diag.List) {
	o, ok := a.Src.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return diag.List{{Code: "F0211", Subject: a.span(), Summary: "env must name its variables",
			Detail: "Which variables are set is known from the file:  env = { NAME = \"value\" }. The values can be expressions."}}
	}
	a.Env = make(map[string]*ir.Expr, len(o.Items))
	for _, item := range o.Items {
		at := syntax.Range(item.KeyExpr.Range())
		key, ok := envKeyText(item.KeyExpr)
		switch _, twice := a.Env[key]; {
		case !ok || !envName.MatchString(key):
			list = append(list, diag.Diagnostic{Code: "F0212", Subject: at, Summary: fmt.Sprintf("%.60s cannot be the name of an environment variable", a.Src.File.Text(item.KeyExpr)),
				Detail: "Such a name is written out; it begins with a letter or _ and goes on with letters, digits and _."})
			continue
		case twice:
			list = append(list, diag.Diagnostic{Code: "F0213", Subject: at, Summary: fmt.Sprintf("Environment variable %s is set twice", key),
				Detail: "Remove one of the two."})
			continue
		}
		e, found := expr.Value(item.ValueExpr, a.Src.File.Src, env)
		list = append(list, found...)
		a.Env[key] = nil
		if e == nil || found.HasErrors() {
			continue
		}
		a.Env[key] = e
		list = append(list, textual(e, key, syntax.Range(item.ValueExpr.Range()))...)
	}
	return list
}

func envKeyText(x hclsyntax.Expression) (string, bool) {
	k, ok := x.(*hclsyntax.ObjectConsKeyExpr)
	if !ok {
		return "", false
	}
	if t, ok := k.Wrapped.(*hclsyntax.ScopeTraversalExpr); ok && len(t.Traversal) == 1 && !k.ForceNonLiteral {
		return t.Traversal.RootName(), true
	}
	return literal(k.Wrapped)
}
