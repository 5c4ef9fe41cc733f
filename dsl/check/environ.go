package check

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// ours are the variables that hold the values of scripts.
var ours = lazyregexp.New(`^FLOWRUN_V[0-9]+$`)

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// listedVariables are the variables of a list of texts: those with a value, as an object has them, or the names alone.
func listedVariables(x hclsyntax.Expression) (set, passed []string) {
	t, ok := x.(*hclsyntax.TupleConsExpr)
	if !ok {
		return nil, nil
	}
	for _, x := range t.Exprs {
		s, ok := literal(x)
		key, text, hasValue := strings.Cut(s, "=")
		switch {
		case !ok || quote(s) == "" || !envName().MatchString(key):
			return nil, nil
		case hasValue:
			set = append(set, fmt.Sprintf("%s = %q", key, text))
		default:
			passed = append(passed, key)
		}
	}
	return set, passed
}

// environment checks env = { NAME = value, … }: names are written out, each value is an expression of its own.
func (c *checker) environment(a *Attr, env *expr.Env) (list diag.List) {
	o, ok := a.Src.Expr().(*hclsyntax.ObjectConsExpr)
	if !ok {
		d := diag.Diagnostic{Code: "F0211", Subject: a.span(), Summary: "env must name its variables",
			Detail: "The names of the variables must be literals:  env = { NAME = \"value\" }. The values can be expressions."}
		if set, passed := listedVariables(a.Src.Expr()); len(set) > 0 {
			d.Detail = fmt.Sprintf("Write  env = { %s }.", strings.Join(set, ", "))
		} else if len(passed) > 0 {
			d.Detail = fmt.Sprintf("To pass variables of the environment on, write  pass_env = %s.", quotedWords(passed))
		}
		return diag.List{d}
	}
	a.Env = make(map[string]*ir.Expr, len(o.Items))
	for _, item := range o.Items {
		at := syntax.Range(item.KeyExpr.Range())
		key, ok := envKeyText(item.KeyExpr)
		switch _, twice := a.Env[key]; {
		case !ok || !envName().MatchString(key):
			list = append(list, diag.Diagnostic{Code: "F0212", Subject: at, Summary: fmt.Sprintf("%.60s is not a valid name of an environment variable", a.Src.File.Text(item.KeyExpr)),
				Detail: "The name is a literal that begins with a letter or _, and contains letters, digits and _."})
			continue
		case key == outputFile || ours().MatchString(key):
			list = append(list, diag.Diagnostic{Code: "F0212", Subject: at, Summary: fmt.Sprintf("%s is set by flowrun itself", key),
				Detail: "flowrun would overwrite it. Use another name."})
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
		list = append(list, decides(key, e, syntax.Range(item.ValueExpr.Range()))...)
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
