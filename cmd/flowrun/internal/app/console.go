package app

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
)

// MaxConsoleLine bounds a line that console reads, in bytes.
const MaxConsoleLine = 64 << 10

func (a *app) newConsoleCommand() *cobra.Command {
	conditions := false
	c := &cobra.Command{
		Use: "console RUN [EXPRESSION...]", Short: "Evaluate values and conditions against a run", Args: between(1, 1000, "RUN [EXPRESSION...]"),
		Long: `console evaluates expressions with the names of a run: var, local, input, run, and step.NAME with its output, status and all
the rest. An expression is a value of the language; with --condition, or behind the word "when", it is a condition. Results are
printed as JSON, one a line. Without expressions it reads them from standard input, a line each. Nothing of the run changes.`,
		RunE: func(_ *cobra.Command, words []string) error {
			k, err := a.openConsole(words[0])
			if err != nil {
				return err
			}
			k.conditions = conditions
			if len(words) == 1 {
				return k.read()
			}
			for _, text := range words[1:] {
				k.line(text)
			}
			return k.verdict()
		},
	}
	c.Flags().BoolVar(&conditions, "condition", false, "expressions are conditions, not values")
	return c
}

// console is a run to ask, and the number of questions without an answer.
type console struct {
	a          *app
	evaluator  *expr.Evaluator
	scope      ir.Scope
	env        *expr.Env
	conditions bool
	failed     int
}

// openConsole replays a run and collects the names that expressions can read.
func (a *app) openConsole(word string) (k *console, err error) {
	err = a.withRun(word, nil, func(s *store, info engine.Info) error {
		p, err := s.History(context.Background(), info.Run)
		if err != nil {
			return err
		}
		k = &console{a: a, evaluator: expr.NewEvaluator(ir.RulesOf(p.Header.Behaviour), p.Program.Files), scope: p.Names(), env: consoleEnv(p.Program.Program, p.Workflow)}
		return nil
	})
	return k, err
}

// consoleEnv returns the names of a run and their types. The types of declarations are known. The
// types of results are dynamic.
func consoleEnv(p *ir.Program, w *ir.Workflow) *expr.Env {
	steps, vars, inputs, locals := map[string]value.Type{}, map[string]value.Type{}, map[string]value.Type{}, map[string]value.Type{}
	result := resultsType()
	for _, name := range namesOf(w.Nodes, nil) {
		steps[name] = result
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
		env.Hidden[name] = "It belongs to a place inside a node; the console stands where a workflow's outputs stand. Read step.NAME."
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

// read answers the expressions of standard input, one per line.
func (k *console) read() error {
	lines := bufio.NewScanner(k.a.Stdin)
	lines.Buffer(nil, MaxConsoleLine)
	for k.prompt(); lines.Scan(); k.prompt() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			k.line(text)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	return k.verdict()
}

func (k *console) prompt() {
	if k.a.err.Live {
		k.a.err.Printf("> ")
	}
}

func (k *console) verdict() error {
	if k.failed > 0 {
		return &ended{exitNo}
	}
	return nil
}

// line answers one question: its value as JSON, or why it has none.
func (k *console) line(text string) {
	conditions := k.conditions
	if rest, ok := strings.CutPrefix(text, "when "); ok {
		text, conditions = rest, true
	}
	e, found := compileAsked(text, conditions, k.env)
	ui.Diagnostics(k.a.err, found, ui.Sources{consoleFile: []byte(text)})
	if e == nil {
		k.failed++
		return
	}
	v, err := k.evaluator.Eval(e, k.scope)
	if err != nil {
		k.a.err.Printf("It has no value: %s\n", ui.CleanLines(err.Error()))
		k.failed++
		return
	}
	_ = ui.WriteJSON(k.a.out, v)
}

// consoleFile is the file name of an expression in messages.
const consoleFile = "expression"

// compileAsked checks a text as in a file: in brackets, so that it may have any form, on a line of
// its own.
func compileAsked(text string, condition bool, env *expr.Env) (*ir.Expr, diag.List) {
	before, after := "v = (\n", "\n)\n"
	if condition {
		end := heredocEnd(text)
		before, after = "v = <<"+end+"\n", "\n"+end+"\n"
	}
	f, list := syntax.Parse(consoleFile, []byte(before+text+after))
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
