package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// shape says how much of a path is part of an [ir.Ref].
type shape int

const (
	attrRoot  shape = iota // root.attribute: each, run, previous, result, error, recalled
	declRoot               // root.NAME: var, local, input
	stepRoot               // step.NAME.attribute
	plainRoot              // the root alone: attempt, iteration, feedback
	lastRoot               // last.step.NAME.attribute
)

// shapes is part of the language, not of a place: a stored expression is read back without an environment.
var shapes = map[string]shape{
	"var": declRoot, "local": declRoot, "input": declRoot, "step": stepRoot,
	"attempt": plainRoot, "iteration": plainRoot, "feedback": plainRoot, "event": plainRoot, "now": plainRoot, "last": lastRoot,
	"total": plainRoot, "done": plainRoot, "succeeded": plainRoot, "failed": plainRoot, "skipped": plainRoot, // of a join
	"node": stepRoot, "calls": declRoot, "max_at_once": declRoot, "max_in_use": declRoot, "breakers": declRoot, "routines": declRoot, "path": plainRoot, "events": plainRoot, "inbox": plainRoot, "refused_decisions": plainRoot, "refused_events": plainRoot, "elapsed": plainRoot, "live": plainRoot, "runs": stepRoot, // of a test
}

// rootNames are the roots of the language in the order in which messages list them.
var rootNames = []string{"var", "local", "input", "step", "each", "run", "attempt", "iteration", "previous", "last", "result", "error", "feedback", "recalled", "event", "elapsed", "healed", "now"}

func compareRefs(a, b ir.Ref) int {
	if c := strings.Compare(a.Root, b.Root); c != 0 {
		return c
	}
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(a.Attr, b.Attr)
}

func sortRefs(refs []ir.Ref) []ir.Ref {
	slices.SortFunc(refs, compareRefs)
	return slices.Compact(refs)
}

// Refs lists the names that an expression reads, sorted and without repeats, without checking that they exist.
func Refs(x hclsyntax.Expression) []ir.Ref {
	l := &hclLowerer{base: x.Range().Start.Byte}
	l.lower(x)
	return sortRefs(l.reads)
}

// Name is one static reference, such as agent.backend.
type Name struct {
	Name  string
	Range diag.Range // of the whole reference
	Pool  bool       // of an [Assignee]: the name is that of a pool
	// Member gives the name of a member of the pool: pool.NAME[MEMBER]. It is nil without one.
	Member hclsyntax.Expression
}

// Assignee is the root of references to who may be given a task: agent.NAME, pool.NAME or pool.NAME[EXPRESSION].
const Assignee = "agent or pool"

// assignee reads a reference to an agent, a pool or a member of a pool.
func assignee(x hclsyntax.Expression) (name Name, ok bool, diags diag.List) {
	of, member := x, hclsyntax.Expression(nil)
	if i, is := x.(*hclsyntax.IndexExpr); is {
		of, member = i.Collection, i.Key
	}
	t, is := of.(*hclsyntax.ScopeTraversalExpr)
	if meant := meantBy(x, "pool"); meant != "" && strings.HasPrefix(quotedText(x), "pool.") {
		return Name{}, false, diag.List{{Code: codeStatic, Subject: Range(x.Range()), Summary: "Expected a reference to a pool",
			Detail: fmt.Sprintf("Write %s, without quotes and without ${}.", meant), Edit: &diag.Edit{Range: Range(x.Range()), Text: meant}}}
	}
	if !is || t.Traversal.RootName() != "pool" || len(t.Traversal) < 2 {
		return Static(x, "agent")
	}
	attr, is := t.Traversal[1].(hcl.TraverseAttr)
	if is && len(t.Traversal) == 3 && member == nil {
		switch m := t.Traversal[2].(type) {
		case hcl.TraverseIndex:
			member = &hclsyntax.LiteralValueExpr{Val: m.Key, SrcRange: m.SrcRange}
		case hcl.TraverseAttr:
			meant := fmt.Sprintf("pool.%s[%q]", attr.Name, m.Name)
			return Name{}, false, diag.List{{Code: codeStatic, Subject: Range(x.Range()), Summary: "A member of a pool is named in brackets",
				Detail: fmt.Sprintf("Write  %s.", meant), Edit: &diag.Edit{Range: Range(x.Range()), Text: meant}}}
		}
	}
	if !is || len(t.Traversal) > 3 || len(t.Traversal) == 3 && (member == nil || of != x) {
		return Name{}, false, diag.List{{Code: codeStatic, Subject: Range(x.Range()), Summary: "Expected a reference to a pool",
			Detail: "Write pool.NAME, or pool.NAME[EXPRESSION] for the member with the name that the expression returns."}}
	}
	return Name{Name: attr.Name, Range: Range(x.Range()), Pool: true, Member: member}, true, nil
}

// Refers reports whether an expression begins as a reference of a root does, so that it is one, or is meant to be one.
func Refers(x hclsyntax.Expression, root string) bool {
	if i, is := x.(*hclsyntax.IndexExpr); is {
		x = i.Collection
	}
	t, is := x.(*hclsyntax.ScopeTraversalExpr)
	if !is {
		return false
	}
	name := t.Traversal.RootName()
	return name == root || root == Assignee && (name == "agent" || name == "pool")
}

// Static reads a bare reference to a declaration, root.NAME, such as agent.backend for root "agent", or one of [Assignee]. ok is
// false, and the diagnostics say why, where x is anything else. It does not look whether the name is declared.
func Static(x hclsyntax.Expression, root string) (name Name, ok bool, diags diag.List) {
	if root == Assignee {
		return assignee(x)
	}
	rng := Range(x.Range())
	if t, is := x.(*hclsyntax.ScopeTraversalExpr); is && len(t.Traversal) == 2 && t.Traversal.RootName() == root {
		if attr, is := t.Traversal[1].(hcl.TraverseAttr); is {
			return Name{Name: attr.Name, Range: rng}, true, nil
		}
	}
	if _, is := x.(*hclsyntax.ConditionalExpr); is {
		return Name{}, false, diag.List{{
			Code:    codeStatic,
			Summary: "A choice between " + root + "s cannot be made here",
			Detail:  "Only  agent = CONDITION ? agent.A : agent.B  chooses. Write a step for each " + root + ", with  when  to choose the one that runs.",
			Subject: rng,
		}}
	}
	d := diag.Diagnostic{
		Code:    codeStatic,
		Summary: "Expected a reference to " + an(root),
		Detail:  "Write " + root + ".NAME, without quotes and without ${}. flowrun resolves it when it reads the file, so it cannot be computed.",
		Subject: rng,
	}
	if meant := meantBy(x, root); meant != "" {
		d.Detail = strings.Replace(d.Detail, root+".NAME", meant, 1)
		d.Edit = &diag.Edit{Range: rng, Text: meant}
	}
	return Name{}, false, diag.List{d}
}

// Choice reads a choice between two references: condition ? root.A : root.B. It is nil where x is something else.
func Choice(x hclsyntax.Expression, root string) (condition hclsyntax.Expression, names []Name, diags diag.List) {
	c, is := x.(*hclsyntax.ConditionalExpr)
	if !is {
		return nil, nil, nil
	}
	for _, side := range []hclsyntax.Expression{c.TrueResult, c.FalseResult} {
		n, ok, found := Static(side, root)
		diags = append(diags, found...)
		if ok {
			names = append(names, n)
		}
	}
	return c.Condition, names, diags
}

var namePattern = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// quotedText is the text of a string that is written out; "" for anything else.
func quotedText(x hclsyntax.Expression) string {
	if t, ok := x.(*hclsyntax.TemplateExpr); ok {
		text, _ := literalText(t)
		return text
	}
	return ""
}

// meantBy is the reference that somebody meant who wrote its name alone, in quotes, below a root of another name, or with an
// attribute behind it; or "".
func meantBy(x hclsyntax.Expression, root string) string {
	name := ""
	if root == Assignee {
		root = "agent"
		if t, is := x.(*hclsyntax.ScopeTraversalExpr); is && t.Traversal.RootName() == "pool" {
			root = "pool"
		}
	}
	switch x := x.(type) {
	case *hclsyntax.TemplateExpr:
		if v, diags := x.Value(nil); !diags.HasErrors() && x.IsStringLiteral() {
			name = strings.TrimPrefix(v.AsString(), root+".")
		}
	case *hclsyntax.ScopeTraversalExpr:
		name = x.Traversal.RootName()
		if len(x.Traversal) > 1 {
			a, _ := x.Traversal[1].(hcl.TraverseAttr)
			name = a.Name
		}
	}
	if !namePattern().MatchString(name) {
		return ""
	}
	return root + "." + name
}

// StaticList reads a list of bare references, [root.A, root.B], in order. Members that are something else are left out
// and reported.
func StaticList(x hclsyntax.Expression, root string) ([]Name, diag.List) {
	t, ok := x.(*hclsyntax.TupleConsExpr)
	if !ok {
		meant, kind := meantBy(x, root), root
		if root == Assignee {
			kind = "agent"
		}
		d := diag.Diagnostic{
			Code:    codeStatic,
			Summary: "Expected a list of references",
			Detail:  "Write [" + kind + ".NAME, …]; a single reference needs brackets, too.",
			Subject: Range(x.Range()),
		}
		if meant != "" {
			d.Detail = "Write [" + meant + "]; a single reference needs brackets, too, and no quotes."
			d.Edit = &diag.Edit{Range: d.Subject, Text: "[" + meant + "]"}
		}
		return nil, diag.List{d}
	}
	var names []Name
	var diags diag.List
	for _, e := range t.Exprs {
		n, ok, ds := Static(e, root)
		diags = append(diags, ds...)
		if ok {
			names = append(names, n)
		}
	}
	return names, diags
}

// Range is a range of hcl as diagnostics have it.
func Range(r hcl.Range) diag.Range {
	pos := func(p hcl.Pos) diag.Pos { return diag.Pos{Line: p.Line, Column: p.Column, Byte: p.Byte} }
	return diag.Range{File: r.Filename, Start: pos(r.Start), End: pos(r.End)}
}

// an puts the article before a word.
func an(word string) string {
	if word != "" && strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}
