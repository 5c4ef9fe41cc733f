package dsl

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// NamesOfRun returns the names of a run and their types. The types of declarations are known. The
// types of results are dynamic.
func NamesOfRun(p *ir.Program, w *ir.Workflow) *expr.Env {
	steps, vars, inputs, locals := map[string]value.Type{}, map[string]value.Type{}, map[string]value.Type{}, map[string]value.Type{}
	result := resultsType()
	for n := range ir.All(w.Nodes) {
		steps[n.Name] = result
	}
	for _, d := range p.Variables {
		vars[d.Name] = d.Type
	}
	for _, d := range w.Inputs {
		inputs[d.Name] = d.Type
	}
	for _, l := range p.Locals {
		locals[l.Name] = l.Expr.Type
	}
	env := &expr.Env{Roots: map[string]*expr.Root{
		"var": {What: "variable", Names: vars}, "input": {What: "input", Names: inputs}, "local": {What: "local", Names: locals},
		"step": {What: "step", Names: steps}, "run": {What: "run", Type: value.AnyType},
	}, Hidden: map[string]string{}}
	for _, name := range []string{"each", "attempt", "iteration", "previous", "last", "result", "error", "feedback"} {
		env.Hidden[name] = "It is available only inside a node. Names available here: the same as in outputs of a workflow, such as step.NAME."
	}
	return env
}

// resultsType is the type of the results of all steps: the attributes of a result and the possible
// statuses. All other types are dynamic, so that no expression is refused because of a type that is
// not known.
func resultsType() value.Type {
	attrs := check.ResultType().Attrs
	for name, t := range attrs { // any order: each for itself
		if t.Enum == nil {
			attrs[name] = value.AnyType
		}
	}
	return value.Object(attrs)
}

// Ask reads one expression, a value or a condition, with the names of env. The positions of the diagnostics are those of the text; name
// is its name in them. The expression is nil if the text is refused.
func Ask(name, text string, condition bool, env *expr.Env) (*ir.Expr, diag.List) {
	before, after := "v = (\n", "\n)\n" // in brackets, on a line of its own, it may have any form
	if condition {
		end := heredocEnd(text)
		before, after = "v = <<"+end+"\n", "\n"+end+"\n"
	}
	f, list := syntax.Parse(name, []byte(before+text+after))
	home := func(list diag.List) diag.List {
		for i := range list {
			list[i].Subject = rangeInText(list[i].Subject, len(before), text)
			for n := range list[i].Notes {
				list[i].Notes[n].Range = rangeInText(list[i].Notes[n].Range, len(before), text)
			}
		}
		return list
	}
	if list.HasErrors() || !isOneExpression(f) {
		if !list.HasErrors() {
			list = diag.List{{Code: "F0035", Summary: "More than one expression", Detail: "A line is one expression."}}
		}
		return nil, home(list)
	}
	if condition {
		e, found := expr.Condition(f.Body.Attrs[0].Expr(), f.Src, env)
		if e != nil {
			e.Text = strings.TrimSpace(e.Text)
		}
		return e, home(found)
	}
	e, found := expr.Value(f.Body.Attrs[0].Expr(), f.Src, env)
	return e, home(found)
}

// heredocEnd returns a word that ends a heredoc and is not a line of the text.
func heredocEnd(text string) string {
	end := "END"
	for strings.Contains(text, end) {
		end += "_"
	}
	return end
}

// isOneExpression reports whether a file around a text holds one expression and nothing else: the
// brackets around it are one pair, unlike in "1) + (2".
func isOneExpression(f *syntax.File) bool {
	if len(f.Body.Attrs) != 1 || len(f.Body.Blocks) > 0 {
		return false
	}
	x, bracketed := f.Body.Attrs[0].Expr().(*hclsyntax.ParenthesesExpr)
	_, heredoc := f.Body.Attrs[0].Expr().(*hclsyntax.TemplateExpr)
	return heredoc || bracketed && x.SrcRange.End.Byte >= len(bytes.TrimSpace(f.Src))
}

// rangeInText converts a range of the file into a range of the text that the file wraps. A range
// behind the text becomes the end of the text.
func rangeInText(r diag.Range, before int, text string) diag.Range {
	end := diag.Pos{Line: 1 + strings.Count(text, "\n"), Byte: len(text)}
	end.Column = 1 + utf8.RuneCountInString(text[strings.LastIndexByte(text, '\n')+1:])
	in := func(p diag.Pos) diag.Pos {
		p.Line, p.Byte = p.Line-1, p.Byte-before
		if p.Byte > len(text) || p.Line > end.Line {
			return end
		}
		return p
	}
	if r.Set() {
		r.Start, r.End = in(r.Start), in(r.End)
	}
	return r
}
