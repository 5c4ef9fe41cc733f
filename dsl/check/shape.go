package check

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/shell"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// A list that an expression makes can have several shapes: each is the words of one list that it may become.

// maxShapes bounds how many shapes of one list are judged, maxCopies how often a list of unknown length is repeated in
// them: an option has two values at most, and two words stand before a command.
const (
	maxShapes = 256
	maxCopies = 3
	maxInline = 8
	maxWords  = 2000 // in a list with values
	maxForms  = 9    // of a word that is one of a few
)

// mostCopies bounds the words of all lists that are judged more than once, or come from locals. It grows with the program,
// so that only few lists that become many are refused.
func (c *checker) mostCopies() int { return 1<<19 + c.size }

type argWords [][]shell.Part

// shaper finds the shapes of lists.
type shaper struct {
	c     *checker
	of    *Attr
	file  *syntax.File
	env   *expr.Env
	deep  int
	many  bool // there are more than maxShapes
	outer *shaper
	at    *diag.Range // where a value inside a local is shown
}

// shapes are those that a list can have.
func (s *shaper) shapes(x hclsyntax.Expression) []argWords {
	switch x := x.(type) {
	case *hclsyntax.ParenthesesExpr:
		return s.shapes(x.Expression)
	case *hclsyntax.TupleConsExpr:
		out := []argWords{nil}
		for _, m := range x.Exprs {
			out = s.product(out, s.single(m))
		}
		return out
	case *hclsyntax.ConditionalExpr:
		return append(s.shapes(x.TrueResult), s.shapes(x.FalseResult)...)
	case *hclsyntax.FunctionCallExpr:
		switch {
		case x.ExpandFinal:
		case x.Name == "concat" || x.Name == "flatten" && len(x.Args) == 1:
			args := x.Args
			if t, ok := x.Args[0].(*hclsyntax.TupleConsExpr); ok && x.Name == "flatten" {
				args = t.Exprs
			}
			out := []argWords{nil}
			for _, m := range args {
				if x.Name == "flatten" && !s.list(m) {
					out = s.product(out, s.single(m))
				} else {
					out = s.product(out, s.shapes(m))
				}
			}
			return out
		case x.Name == "compact" && len(x.Args) == 1: // each of them may be left out
			out := []argWords{nil}
			for _, shape := range s.shapes(x.Args[0]) {
				for _, w := range shape {
					if one := []argWords{{w}}; len(w) == 1 && !w[0].Value && w[0].Text != "" {
						out = s.product(out, one)
					} else {
						out = s.product(out, append(one, nil))
					}
				}
			}
			return out
		case x.Name == "try" || x.Name == "coalescelist":
			var out []argWords
			for _, m := range x.Args {
				out = append(out, s.shapes(m)...)
			}
			return out
		}
	case *hclsyntax.ForExpr:
		if x.KeyExpr == nil {
			return s.repeated(s.single(x.ValExpr))
		}
	case *hclsyntax.ScopeTraversalExpr:
		if in := s.inside(x); in != nil {
			return in.local(x)
		}
	}
	e := s.lower(x)
	if e != nil && e.Kind == ir.Const {
		return []argWords{constant(e.Const)}
	}
	return s.repeated([]argWords{{{s.value(x, e)}}})
}

// local are the shapes of a local, which are found once.
func (s *shaper) local(x *hclsyntax.ScopeTraversalExpr) (out []argWords) {
	name := traversalName(x.Traversal)
	known, ok := s.c.shapes[name]
	if !ok {
		before := s.many
		s.many = false
		known = localShapes{s.shapes(s.c.locals[name].Src.Expr()), s.many}
		s.c.shapes[name], s.many = known, before
	}
	s.outer.many = s.outer.many || known.many
	for _, list := range known.lists {
		if s.c.copies += len(list); s.c.copies > s.c.mostCopies() {
			s.outer.many = true
			return []argWords{nil}
		}
		shape := make(argWords, len(list))
		for i, w := range list {
			shape[i] = slices.Clone(w)
			for p := range shape[i] {
				shape[i][p].Range = *s.at
			}
		}
		out = append(out, shape)
	}
	return out
}

// localShapes are those of a local that lists are made of.
type localShapes struct {
	lists []argWords
	many  bool
}

// lower is the IR of an expression, or nil where it has none by itself, as inside a for.
func (s *shaper) lower(x hclsyntax.Expression) *ir.Expr {
	e, _ := expr.Value(x, s.file.Src, s.env)
	return e
}

// inside is the shaper of the local that an expression names, if it names one.
func (s *shaper) inside(x *hclsyntax.ScopeTraversalExpr) *shaper {
	name := traversalName(x.Traversal)
	a := s.c.locals[name]
	if x.Traversal.RootName() != "local" || a == nil || len(x.Traversal) != 2 || s.deep >= maxInline {
		return nil
	}
	in := *s
	in.outer = s
	in.file, in.env, in.deep = a.Src.File, s.c.env(nil, nil), s.deep+1
	if in.at == nil {
		at := syntax.Range(x.Range())
		in.at = &at
	}
	return &in
}

func traversalName(t hcl.Traversal) string {
	if len(t) < 2 {
		return ""
	}
	a, _ := t[1].(hcl.TraverseAttr)
	return a.Name
}

// list reports whether an expression is a list.
func (s *shaper) list(x hclsyntax.Expression) bool {
	if _, ok := x.(*hclsyntax.TupleConsExpr); ok {
		return true
	}
	e := s.lower(x)
	if e == nil {
		return true
	}
	switch e.Type.Kind {
	case value.ListT, value.SetT, value.TupleT:
		return true
	}
	return e.Type.IsAny()
}

// product puts each of the second behind each of the first.
func (s *shaper) product(a, b []argWords) (out []argWords) {
	if len(a) == 1 && len(b) == 1 {
		if s.many = s.many || len(a[0]) > maxWords; s.many {
			return a
		}
		return []argWords{append(a[0], b[0]...)}
	}
	if len(a)*len(b) > maxShapes {
		s.many = true
		return a
	}
	for _, x := range a {
		for _, y := range b {
			out = append(out, append(x[:len(x):len(x)], y...))
		}
	}
	return out
}

// repeated are the shapes of a list of unknown length whose members are of some shapes.
func (s *shaper) repeated(members []argWords) []argWords {
	out, last := []argWords{nil}, []argWords{nil}
	for range maxCopies {
		last = s.product(last, members)
		out = append(out, last...)
	}
	return out
}

// single are the shapes of one word.
func (s *shaper) single(x hclsyntax.Expression) (out []argWords) {
	for _, w := range s.word(x) {
		out = append(out, argWords{w})
	}
	return out
}

// word are the forms that a word can have.
func (s *shaper) word(x hclsyntax.Expression) [][]shell.Part {
	switch x := x.(type) {
	case *hclsyntax.ParenthesesExpr:
		return s.word(x.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return s.word(x.Wrapped)
	case *hclsyntax.ConditionalExpr:
		return append(s.word(x.TrueResult), s.word(x.FalseResult)...)
	case *hclsyntax.TemplateExpr:
		return s.template(x)
	case *hclsyntax.FunctionCallExpr:
		if e := s.lower(x); e != nil && e.Kind == ir.Const {
			break
		}
		if x.Name == "format" && len(x.Args) > 1 && !x.ExpandFinal {
			if text, ok := literal(x.Args[0]); ok {
				if before, _, some := strings.Cut(text, "%"); some && before != "" {
					return [][]shell.Part{{{Text: before}, s.value(x, nil)}}
				}
			}
		}
	case *hclsyntax.ScopeTraversalExpr:
		if in := s.inside(x); in != nil && in.c.locals[traversalName(x.Traversal)].Expr != nil {
			if e := in.c.locals[traversalName(x.Traversal)].Expr; len(e.Text) < maxWords {
				return in.word(in.c.locals[traversalName(x.Traversal)].Src.Expr())
			}
		}
	}
	e := s.lower(x)
	if call, ok := x.(*hclsyntax.FunctionCallExpr); ok && s.digits(call) {
		p := s.value(x, e)
		p.Plain = true
		return [][]shell.Part{{p}}
	}
	switch {
	case e == nil:
	case e.Kind == ir.Const:
		return [][]shell.Part{{{Text: value.Text(e.Const)}}}
	case e.Type.Kind == value.StringT && !e.Type.Nullable:
		known := e.Type.Enum
		if len(known) == 0 {
			known = s.of.instances(s.file.Text(x))
		}
		var out [][]shell.Part
		for _, text := range known {
			out = append(out, []shell.Part{{Text: text}})
		}
		if len(out) > 0 && len(out) <= maxForms {
			return out
		}
	}
	return [][]shell.Part{{s.value(x, e)}}
}

// plainFunctions make text that never begins with - and a letter.
var plainFunctions = map[string]bool{"jsonencode": true, "sha256": true, "sha512": true, "sha1": true, "md5": true, "base64encode": true, "timestamp": true}

// digits reports whether what a function makes never begins with - and a letter.
func (s *shaper) digits(x *hclsyntax.FunctionCallExpr) bool {
	if x.Name == "tostring" && len(x.Args) == 1 {
		e := s.lower(x.Args[0])
		return e != nil && (e.Type.Kind == value.NumberT || e.Type.Kind == value.Bool)
	}
	return plainFunctions[x.Name]
}

// writtenOut reports whether a word can be nothing but texts that the file has.
func (s *shaper) writtenOut(x hclsyntax.Expression) bool {
	if _, choice := x.(*hclsyntax.ConditionalExpr); !choice {
		return false
	}
	for _, form := range s.word(x) {
		for _, p := range form {
			if p.Value {
				return false
			}
		}
	}
	return true
}

// template are the forms of text with values in it.
func (s *shaper) template(x *hclsyntax.TemplateExpr) [][]shell.Part {
	out := [][]shell.Part{nil}
	for _, p := range x.Parts {
		forms := s.word(p)
		if len(forms) == 1 && len(out) == 1 {
			out[0] = append(out[0], forms[0]...)
			continue
		}
		if len(out)*len(forms) > maxShapes {
			forms = [][]shell.Part{{s.value(p, nil)}}
		}
		var next [][]shell.Part
		for _, a := range out {
			for _, b := range forms {
				next = append(next, append(a[:len(a):len(a)], b...))
			}
		}
		out = next
	}
	return out
}

// value is what is only known in a run.
func (s *shaper) value(x hclsyntax.Expression, e *ir.Expr) shell.Part {
	p := runtime(s.of, e, s.file.Text(x), syntax.Range(x.Range()))
	if s.at != nil {
		p.Range = *s.at
	}
	return p
}

// instances are the texts that each.value or each.key can be where for_each is written out.
func (a *Attr) instances(text string) (out []string) {
	if a == nil || a.loop == nil || a.loop.Expr == nil || a.loop.Expr.Kind != ir.Const || text != "each.value" && text != "each.key" {
		return nil
	}
	switch v := a.loop.Expr.Const.(type) {
	case []any:
		if len(v) > maxWords {
			return nil
		}
		for _, m := range v {
			if m, ok := m.(string); ok && text == "each.value" {
				out = append(out, m)
			} else {
				return nil
			}
		}
	case map[string]any:
		if len(v) > maxWords {
			return nil
		}
		for k, m := range v { // any order: sorted below
			if text == "each.key" {
				out = append(out, k)
			} else if m, ok := m.(string); ok {
				out = append(out, m)
			} else {
				return nil
			}
		}
		slices.Sort(out)
	}
	return out
}

// runtime is a value in an attribute as the judge of programs sees it.
func runtime(a *Attr, e *ir.Expr, text string, at diag.Range) shell.Part {
	p := shell.Part{Value: true, Text: text, Range: at}
	if e == nil {
		return p
	}
	known := e.Type.Enum
	if len(known) == 0 {
		known = a.instances(text)
	}
	switch t := e.Type; {
	case t.Kind == value.NumberT || t.Kind == value.Bool:
		p.Tame, p.Plain = true, true
	case len(known) > 0 && !t.Nullable:
		p.Tame, p.Plain = true, true
	}
	if text == "run.id" || text == "run.workflow" { // flowrun's own words
		p.Plain = true
	}
	return p
}

// constant is a list that is known.
func constant(v value.Value) (out argWords) {
	list, _ := v.([]any)
	for _, m := range list {
		out = append(out, []shell.Part{{Text: value.Text(m)}})
	}
	return out
}

// argv judges a list of program and arguments in each of its shapes, up to the first with a finding.
func (c *checker) argv(a *Attr, env *expr.Env) diag.List {
	s := &shaper{c: c, of: a, file: a.Src.File, env: env, many: c.copies > c.mostCopies()}
	var shapes []argWords
	if !s.many {
		shapes = s.shapes(a.Src.Expr())
		for _, w := range shapes[1:] {
			c.copies += len(w)
		}
	}
	if s.many {
		return diag.List{{Code: "F0254", Subject: a.span(), Summary: "A list with too many variants to check",
			Detail: "Each optional or computed part doubles the number of variants. Split it into several steps, or write more of the list as literals."}}
	}
	around := c.around(a, env)
	for _, w := range shapes {
		if found := around.Argv(w); len(found) > 0 {
			return found
		}
	}
	return nil
}
