// Package scripts finds the files that the steps of a workflow run, such as ./scripts/build.sh. A run pins its definition, and not
// these files.
//
// It looks at texts that the file has: a file whose name is computed is not found. It is pure: it runs nothing and reads no file. It
// must never import os. Enter at [Of].
package scripts

import (
	"path"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/shell"
)

// Use is a file that a step runs.
type Use struct {
	Node string `json:"node"` // the name of the step
	Path string `json:"path"` // relative to the directory of the run, with slashes
}

// Of lists the files that the steps of a workflow run, in the order of the file: by their scripts and programs, by those of their
// gates, and by their compensations. A step whose directory is computed is left out.
func Of(p *ir.Program, w *ir.Workflow) (list []Use) {
	base, known := text(w.Dir)
	if !known {
		return nil
	}
	gates := map[string]*ir.Gate{}
	for i := range p.Gates {
		gates[p.Gates[i].Name] = &p.Gates[i]
	}
	seen := map[Use]bool{}
	add := func(n *ir.Node, dir *ir.Expr, r *ir.Run) {
		if r == nil {
			return
		}
		at := base
		if dir != nil {
			if at, known = text(dir); !known {
				return
			}
		}
		for _, file := range files(r) {
			u := Use{n.Name, path.Join(at, file)}
			if !seen[u] && !path.IsAbs(u.Path) {
				seen[u] = true
				list = append(list, u)
			}
		}
	}
	visit := func(nodes []ir.Node) {
		for n := range ir.All(nodes) {
			if r, is := n.Action.(*ir.Run); is {
				add(n, n.Dir, r)
			}
			for _, name := range n.Gates {
				if g := gates[name]; g != nil {
					add(n, g.Dir, g.Run)
				}
			}
			if n.Compensate != nil {
				add(n, n.Compensate.Dir, &n.Compensate.Run)
			}
		}
	}
	visit(w.Nodes)
	if w.Finally != nil {
		visit(w.Finally.Nodes)
	}
	return list
}

// text is the constant text of an expression; known is false if the text is computed. Nil is "".
func text(e *ir.Expr) (s string, known bool) {
	if e == nil {
		return "", true
	}
	s, known = e.Const.(string)
	return s, known && e.Kind == ir.Const
}

// files lists the files that a run names in its text.
func files(r *ir.Run) []string {
	if r.Script != nil {
		script, _ := r.Script.Const.(string)
		return shell.Files(script)
	}
	if r.Argv == nil {
		return nil
	}
	if file := shell.ArgvFile(argv(r.Argv)); file != "" {
		return []string{file}
	}
	return nil
}

// argv lists the first words of a program with its arguments that are texts in the file.
func argv(e *ir.Expr) (words []string) {
	if list, is := e.Const.([]any); is {
		for _, v := range list {
			word, _ := v.(string)
			words = append(words, word)
		}
		return words
	}
	rest := strings.TrimPrefix(strings.TrimSpace(e.Text), "[")
	for m := leading().FindStringSubmatch(rest); m != nil; m = leading().FindStringSubmatch(rest) {
		words, rest = append(words, m[1]), rest[len(m[0]):]
	}
	return append(words, "")
}

// leading matches the next text of a list, if nothing in it is computed or escaped.
var leading = lazyregexp.New(`^\s*"([^"$%\\]*)"\s*(?:,|\])`)
