package check

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/shell"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// surround is a block with env, stdin or dir, and those around it, whose env its programs have, too.
type surround struct {
	block *Block
	up    *surround
	env   map[string]shell.Part // what is only known in a run, once it was looked at
}

// values are the variables of a block whose value is only known in a run. They are found once: many steps may stand in it.
func (s *surround) values(env *expr.Env) map[string]shell.Part {
	if s.env != nil {
		return s.env
	}
	s.env = map[string]shell.Part{}
	a := s.block.attr("env")
	if a == nil {
		return s.env
	}
	o, _ := a.Src.Expr().(*hclsyntax.ObjectConsExpr)
	if o == nil {
		return s.env
	}
	for _, item := range o.Items {
		name, ok := envKeyText(item.KeyExpr)
		e, _ := expr.Value(item.ValueExpr, a.Src.File.Src, env)
		if ok && (e == nil || e.Kind != ir.Const) {
			s.env[name] = runtime(nil, e, a.Src.File.Text(item.ValueExpr), syntax.Range(item.ValueExpr.Range()))
		}
	}
	return s.env
}

// around is what the program of an attribute is given beside its own text.
func (c *checker) around(a *Attr, env *expr.Env) shell.Around {
	out := shell.Around{Env: func(name string) (p shell.Part, ok bool) {
		for s := a.around; s != nil && !ok; s = s.up {
			p, ok = s.values(env)[name]
		}
		return p, ok
	}}
	if a.around == nil {
		return out
	}
	if in := a.around.block.attr("stdin"); in != nil && a.of == "step" {
		out.Stdin = c.inRun(a, in, env)
	}
	for s := a.around; s != nil; s = s.up { // the nearest alone
		if dir := s.block.attr("dir"); dir != nil {
			out.Dir = c.inRun(a, dir, env)
			break
		}
	}
	if a.of == "agent" { // the request, or the task
		out.Stdin = &shell.Part{Value: true, Text: "the task", Range: a.span()}
		set := out.Env
		out.Env = func(name string) (shell.Part, bool) {
			if name == "FLOWRUN_TASK" {
				return *out.Stdin, true
			}
			return set(name)
		}
	}
	return out
}

// inRun is the value of an attribute beside a program, if it is only known in a run.
func (c *checker) inRun(a, beside *Attr, env *expr.Env) *shell.Part {
	x, file := beside.Src.Expr(), beside.Src.File
	e, _ := expr.Value(x, file.Src, env)
	if e != nil && e.Kind == ir.Const {
		return nil
	}
	p := runtime(a, e, file.Text(x), syntax.Range(x.Range()))
	if s := (&shaper{c: c, of: a, file: file, env: env}); s.writtenOut(x) {
		p.Tame, p.Plain = true, true
	}
	return &p
}

// decides refuses a value in an environment variable that decides what programs run.
func decides(name string, e *ir.Expr, at diag.Range) diag.List {
	if !shell.Decides(name) || e.Kind == ir.Const || len(e.Type.Enum) > 0 && !e.Type.Nullable {
		return nil
	}
	return diag.List{{Code: "F0246", Subject: at, Summary: fmt.Sprintf("A value in %s, which decides what programs run", name),
		Detail: fmt.Sprintf("Common programs run, load or search the content of this variable. Write a literal, or declare the value with an enum of the allowed values; a script can choose:  case ${…} in a) %s=…; export %s ;; esac.", name, name)}}
}
