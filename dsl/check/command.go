package check

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/shell"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// aKind is kindWord with its article.
func aKind(t value.Type) string {
	if t.Kind == value.Null {
		return "null"
	}
	return strings.ToLower(article(kindWord(t)))
}

func kindWord(t value.Type) string {
	if t.Kind == value.TupleT {
		return "list"
	}
	return string(t.Kind)
}

// elements are the places of the members of a list that is written out.
func (a *Attr) elements() (out []diag.Range, ok bool) {
	t, ok := a.Src.Expr().(*hclsyntax.TupleConsExpr)
	if !ok {
		return nil, false
	}
	p := a.parts()
	if len(p.places) != len(t.Exprs) {
		for _, x := range t.Exprs {
			p.places = append(p.places, syntax.Range(x.Range()))
		}
	}
	return p.places, true
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
		list = expr.Conform(e, value.List(value.StringType), what, at)
		if line, ok := e.Const.(string); ok && len(list) == 1 {
			if words := commandWords(line); len(words) > 0 && quote(line) != "" {
				list[0].Detail = fmt.Sprintf("A program and its arguments are a list:  %s = %s.", what, quotedWords(words))
			}
		}
		return list
	}
	if t.Nullable {
		return expr.Conform(e, value.List(value.StringType), what, at)
	}
	written, _ := a.Src.Expr().(*hclsyntax.TupleConsExpr)
	for i, m := range members {
		if m.Kind == value.StringT && !m.Nullable {
			continue
		}
		at, text := at, "VALUE"
		if written != nil && len(written.Exprs) == len(members) {
			at, text = syntax.Range(written.Exprs[i].Range()), a.Src.File.Text(written.Exprs[i])
		}
		switch m.Kind {
		case value.ListT, value.SetT, value.MapT, value.TupleT, value.ObjectT, value.Null:
			list = append(list, diag.Diagnostic{Code: "F0227", Subject: at, Summary: fmt.Sprintf("Argument %d of %s is %s", i, what, aKind(m)),
				Detail: "Arguments are strings, numbers or bools. concat(…) joins lists, jsonencode(…) turns a value into text."})
			continue
		}
		if m.CanBeNull() {
			list = append(list, diag.Diagnostic{Code: "F0229", Subject: at, Summary: fmt.Sprintf("Argument %d of %s may be null: %.60s", i, what, text),
				Detail: fmt.Sprintf("Give a value for that case: coalesce(%s, \"…\").", text)})
		}
	}
	return list
}

// command checks run: a list of program and arguments, or a script.
func (c *checker) command(a *Attr, env *expr.Env) diag.List {
	x, src := a.Src.Expr(), a.Src.File.Src
	switch x := x.(type) {
	case *hclsyntax.TemplateExpr:
		if computed(x) {
			return c.script(a, x, x.Parts, env)
		}
		for _, p := range x.Parts { // ${1} is the number 1 and no argument of the script
			if l := p.(*hclsyntax.LiteralValueExpr); l.Val.Type() != cty.String {
				return diag.List{syntax.Expansion("${"+a.Src.File.Text(p)+"}", interpolation(a.Src.File, syntax.Range(p.Range())))}
			}
		}
	case *hclsyntax.TemplateWrapExpr:
		return c.script(a, x, []hclsyntax.Expression{x.Wrapped}, env)
	}
	e, list := expr.Value(x, src, env)
	if e == nil || list.HasErrors() {
		return list
	}
	a.Expr = e
	list = append(list, noOutput(a)...)
	switch {
	case e.Type.Kind == value.StringT && e.Kind == ir.Const:
		a.Script = true
		if s, _ := e.Const.(string); strings.TrimSpace(s) == "" {
			list = append(list, diag.Diagnostic{Code: "F0206", Subject: a.span(), Summary: "Script without a command",
				Detail: "An empty script does nothing. Remove the step, or give it a command."})
		}
	case e.Type.Kind == value.StringT:
		list = append(list, diag.Diagnostic{Code: "F0207", Subject: a.span(), Summary: "A script must be a literal",
			Detail: "A script must be literal text, so that a value can never become a command. A value can be in it, as data:  run = \"PROGRAM ${" + a.Src.File.Text(x) + "}\"."})
	case a.of == "agent":
		list = append(list, textual(e, a.Src.Name, a.span())...)
	case e.Kind == ir.Const && emptyList(e.Const):
		list = append(list, diag.Diagnostic{Code: "F0208", Subject: a.span(), Summary: "List without a program",
			Detail: "The first member is the program, the others are its arguments:  run = [\"make\", \"test\"]."})
	default:
		list = append(list, arguments(a, e)...)
	}
	if list.HasErrors() {
		return list
	}
	switch {
	case a.Script:
		dialect := shell.POSIX
		if a.shell == "bash" {
			dialect = shell.Bash
		}
		text, _ := e.Const.(string)
		_, found := c.around(a, env).Rewrite([]shell.Part{{Text: text}}, dialect, nil)
		list = append(list, found...)
	default:
		list = append(list, c.argv(a, env)...)
	}
	return list
}

func emptyList(v value.Value) bool { l, ok := v.([]any); return ok && len(l) == 0 }
