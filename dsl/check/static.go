package check

import (
	"fmt"
	"math"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// static reads what is fixed in the file: words, flags, types and references, in a block and the blocks inside it,
// but not in nodes, which are read one by one.
func (c *checker) static(b *Block) {
	for _, src := range b.Src.Body.Attrs {
		if a := b.Attrs[src.Name]; a != nil {
			c.in(b, c.fixed(b, a))
		}
	}
	for _, i := range b.Blocks {
		if !isNode(i) && i.Schema.Kind != "input" {
			c.static(i)
		}
	}
}

func (c *checker) fixed(b *Block, a *Attr) (list diag.List) {
	x, ok := a.Src.Expr, false
	switch a.Schema.Kind {
	case schema.Word, schema.Text:
		if a.Text, ok = literal(x()); !ok {
			d := diag.Diagnostic{Code: "F0115", Subject: a.span(), Summary: fmt.Sprintf("%s must be a literal", a.Src.Name),
				Detail: "It is read before the run, so it must be literal text, without ${} and references." + takes(a.Schema)}
			if word := a.Src.Text(); contains(a.Schema.Words, word) {
				d.Detail = fmt.Sprintf("Text needs quotes:  %s = %q.", a.Src.Name, word)
				d.Edit = &diag.Edit{Range: a.span(), Text: fmt.Sprintf("%q", word)}
			}
			return diag.List{d}
		}
		if a.Schema.Kind == schema.Word && !contains(a.Schema.Words, a.Text) {
			d := diag.Diagnostic{Code: "F0116", Subject: a.span(), Summary: fmt.Sprintf("%.60q is not a valid value of %s", a.Text, a.Src.Name),
				Detail: fmt.Sprintf("It is one of %s.", quoted(a.Schema.Words))}
			if near := diag.Nearest(a.Text, a.Schema.Words); near != "" {
				d.Detail += fmt.Sprintf(" Did you mean %q?", near)
				d.Edit = &diag.Edit{Range: a.span(), Text: fmt.Sprintf("%q", near)}
			}
			if a.Src.Name == "type" && b.Schema.Kind == "agent" {
				if program := agentProgram(a.Text, ""); program != "" {
					d.Detail, d.Edit = d.Detail+" "+program, nil
				}
			}
			if a.Src.Name == "strategy" && strings.HasPrefix(a.Text, "least_") {
				d.Detail, d.Edit = "In flowrun, write  strategy = \"least_busy\".", &diag.Edit{Range: a.span(), Text: `"least_busy"`}
			}
			if a.Src.Name == "shell" && a.Text != "sh" {
				d.Detail, d.Edit = fmt.Sprintf("It is one of %s. Another one is a program:  run = [%s, \"-c\", \"…\"].", quoted(a.Schema.Words), strings.ReplaceAll(fmt.Sprintf("%q", a.Text), " ", `", "`)), nil
			}
			if p := schema.PlannedWord(b.Schema.Key(), a.Src.Name, a.Text); p != nil {
				d = notYet(a.span(), p.String(), p, "")
				d.Detail += takes(a.Schema)
			}
			return diag.List{d}
		}
	case schema.Join:
		if text, ok := literal(x()); ok && contains(a.Schema.Words, text) {
			a.Text = text
		}
	case schema.Flag:
		if a.Flag, ok = flag(x()); !ok {
			return diag.List{{Code: "F0117", Subject: a.span(), Summary: fmt.Sprintf("%s must be true or false", a.Src.Name),
				Detail: "It is read before the run, so it must be a literal, without quotes."}}
		}
	case schema.Strings:
		if a.Strings, ok = literals(x()); !ok {
			return diag.List{{Code: "F0118", Subject: a.span(), Summary: fmt.Sprintf("%s must be a list of texts", a.Src.Name),
				Detail: fmt.Sprintf("It is read before the run, so it must be a literal:  %s = [\"A\", \"B\"].", a.Src.Name)}}
		}
		if a.Src.Name == "pass_env" {
			return a.passed()
		}
	case schema.Type:
		t, found := expr.Type(x())
		if list = found; t.Kind != "" {
			a.Type = &t
		}
	case schema.Ref:
		if a.Schema.Choice {
			if a.Choice, a.Names, list = expr.Choice(x(), a.root()); a.Choice != nil {
				return a.refusedRefs(list)
			}
		}
		n, ok, found := expr.Static(x(), a.root())
		if ok {
			a.Names = []expr.Name{n}
		}
		return a.refusedRefs(found)
	case schema.Value:
		if a.Schema.RefKind == "" || !expr.Refers(x(), a.root()) {
			return nil
		}
		n, ok, found := expr.Static(x(), a.root())
		if ok {
			a.Names = []expr.Name{n}
		}
		return a.refusedRefs(found)
	case schema.Refs:
		a.Names, list = expr.StaticList(x(), a.root())
		return a.refusedRefs(list)
	case schema.Quotas:
		return a.quotaNames()
	}
	return list
}

// root is what the references of an attribute begin with.
func (a *Attr) root() string {
	if a.Schema.Pools {
		return expr.Assignee
	}
	return a.Schema.RefKind
}

// refusedRefs says of references to what is planned, such as quota.NAME, that they are, and of pools that they cannot stand here.
func (a *Attr) refusedRefs(list diag.List) diag.List {
	for i, d := range list {
		src := a.Src.File.Src
		kind, _, dotted := strings.Cut(string(src[min(d.Subject.Start.Byte, len(src)):min(d.Subject.End.Byte, len(src))]), ".")
		if b := schema.Blocks[kind]; dotted && b != nil && b.Later != nil {
			list[i] = notYet(d.Subject, kind+".NAME", b.Later, "")
		} else if kind == "pool" && dotted && !a.Schema.Pools && a.Schema.RefKind == "agent" {
			list[i] = noPoolHere(d.Subject, a.Src.Name)
		}
	}
	return list
}

// passed checks the names of environment variables that are passed on.
func (a *Attr) passed() (list diag.List) {
	for i, name := range a.Strings {
		if !envName().MatchString(name) {
			list = append(list, diag.Diagnostic{Code: "F0212", Subject: a.memberAt(i), Summary: fmt.Sprintf("%.60q in pass_env is not a valid name of an environment variable", name),
				Detail: "pass_env lists names only, such as \"GITHUB_TOKEN\"; the values come from flowrun's own environment. To set a value, write  env = { NAME = \"VALUE\" }."})
		}
	}
	return list
}

// span is the place of an attribute's expression.
func (a *Attr) span() diag.Range { return a.Src.Span() }

// literal reads a quoted string or heredoc without anything computed in it.
func literal(x hclsyntax.Expression) (string, bool) {
	t, ok := x.(*hclsyntax.TemplateExpr)
	if !ok {
		return "", false
	}
	s := ""
	for _, p := range t.Parts {
		l, ok := p.(*hclsyntax.LiteralValueExpr)
		if !ok || l.Val.Type() != cty.String {
			return "", false
		}
		s += l.Val.AsString()
	}
	return s, true
}

func literals(x hclsyntax.Expression) (out []string, ok bool) {
	t, ok := x.(*hclsyntax.TupleConsExpr)
	if !ok {
		return nil, false
	}
	for _, e := range t.Exprs {
		s, ok := literal(e)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

func flag(x hclsyntax.Expression) (on, ok bool) {
	l, ok := x.(*hclsyntax.LiteralValueExpr)
	if !ok || l.Val.Type() != cty.Bool || l.Val.IsNull() {
		return false, false
	}
	return l.Val.True(), true
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// bounded checks a number or duration that is known from the file.
func bounded(a *Attr) diag.List {
	if a.known == nil {
		return nil
	}
	switch v := a.known.Const.(type) {
	case float64:
		s := a.Schema
		if s.Max != 0 && (v < s.Min || v > s.Max || s.Want.Int && v != math.Trunc(v)) {
			what := "a number"
			if s.Want.Int {
				what = "a whole number"
			}
			return diag.List{{Code: "F0205", Subject: a.span(), Summary: fmt.Sprintf("%s cannot be %s", a.Src.Name, value.Text(v)),
				Detail: fmt.Sprintf("It is %s from %s to %s.", what, value.Text(s.Min), value.Text(s.Max))}}
		}
	case string:
		if a.Schema.Kind == schema.Duration {
			if _, err := value.ParseDuration(v); err != nil && !(a.Schema.Zero && value.NoDuration(v)) {
				d := diag.Diagnostic{Code: "F0204", Subject: a.span(), Summary: fmt.Sprintf("%s cannot be %.40q", a.Src.Name, v),
					Detail: fmt.Sprintf("A duration is more than zero and at most ten years, %s.", value.DurationForms)}
				if said := spokenDuration(v); said != "" {
					d.Detail = fmt.Sprintf("Write it as  %s = %q.", a.Src.Name, said)
					d.Edit = &diag.Edit{Range: a.span(), Text: fmt.Sprintf("%q", said)}
				}
				return diag.List{d}
			}
		}
	}
	return nil
}
