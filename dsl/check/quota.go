package check

import (
	"fmt"
	"math"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// quota checks a quota that is declared.
func (c *checker) quota(b *Block) {
	env := c.env(nil, nil)
	c.expressions(b, func(string) *expr.Env { return env })
	c.bounds(b, env)
	spends := b.attr("attempts")
	for _, name := range []string{"tokens", "cost_usd"} {
		if spends == nil {
			spends = b.attr(name)
		}
	}
	switch per := b.attr("per"); {
	case b.stray:
	case per == nil && spends != nil:
		c.report(diag.Diagnostic{Code: "F0143", Subject: spends.span(), Context: b.Words(), Summary: fmt.Sprintf("%s needs a time window", spends.Schema.Name),
			Detail: "Add the window:  per = \"24h\"."})
	case per != nil && spends == nil:
		c.report(diag.Diagnostic{Code: "F0143", Subject: per.span(), Context: b.Words(), Summary: "per has no effect by itself",
			Detail: "Add a limit for this window:  attempts,  tokens  or  cost_usd. To limit the rate of starts, use a block:  rate_limit { … }."})
		spends = per
	}
	if !b.stray && spends == nil && b.attr("capacity") == nil && b.Inner("rate_limit") == nil && b.Inner("circuit_breaker") == nil {
		c.report(diag.Diagnostic{Code: "F0136", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("%s limits nothing", b.Words()),
			Detail: "A quota needs one or several of: units (capacity = 4), a rate (rate_limit { … }), usage (cost_usd = 20 with per = \"24h\"), a breaker (circuit_breaker { … })."})
	}
}

// bounds checks the pace and the health of an agent or a quota.
func (c *checker) bounds(b *Block, env *expr.Env) {
	if r := b.Inner("rate_limit"); r != nil {
		c.expressions(r, func(string) *expr.Env { return env })
	}
	if r := b.Inner("circuit_breaker"); r != nil {
		c.tells(r, "notify")
		when := c.env(failureRoots(),
			map[string]string{"step": "The attempts of all runs share the breaker, so it reads only result, error, attempt and elapsed."})
		c.expressions(r, func(attr string) *expr.Env {
			if attr == "when" {
				return when
			}
			return env
		})
	}
}

// quotaNames reads which quotas an attribute names: a reference, a list of them, or an object with the units of each.
func (a *Attr) quotaNames() (list diag.List) {
	x := a.Src.Expr()
	switch x := x.(type) {
	case *hclsyntax.TupleConsExpr:
		if len(x.Exprs) > 0 {
			a.Names, list = expr.StaticList(x, "quota")
			return list
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range x.Items {
			at := syntax.Range(item.KeyExpr.Range())
			if key, ok := envKeyText(item.KeyExpr); ok {
				a.Names = append(a.Names, expr.Name{Name: key, Range: at})
				continue
			}
			list = append(list, diag.Diagnostic{Code: "F0137", Subject: at, Summary: fmt.Sprintf("%.60s is not a valid name of a quota", a.Src.File.Text(item.KeyExpr)),
				Detail: "The names of the quotas must be literals:  quota = { NAME = 2 }. The units can be expressions."})
		}
		if len(x.Items) > 0 {
			return list
		}
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.TemplateExpr:
		n, ok, found := expr.Static(x, "quota")
		if ok {
			a.Names = []expr.Name{n}
		}
		return found
	}
	return diag.List{{Code: "F0137", Subject: a.span(), Summary: "quota must name its quotas",
		Detail: "The names of the quotas must be literals:  quota = quota.NAME,  [quota.A, quota.B],  or { NAME = 2 } with the units of each, which can be expressions."}}
}

// takesQuotas checks that the quotas that an agent, a node or a workflow names are declared, each named once.
func (c *checker) takesQuotas(b *Block) {
	a := b.attr("quota")
	if a == nil {
		return
	}
	_, units := a.Src.Expr().(*hclsyntax.ObjectConsExpr)
	known, seen := a.Names[:0], map[string]bool{}
	for _, r := range a.Names {
		declared := c.quotas[r.Name]
		switch {
		case declared == nil:
			d := diag.Diagnostic{Code: "F0138", Subject: r.Range, Context: b.Words(), Summary: fmt.Sprintf("Unknown quota %q", r.Name),
				Detail: "The program declares no quota of this name."}
			if near := c.nearest(r.Name, c.quotas); near != "" {
				d.Detail += fmt.Sprintf(" Did you mean %q?", near)
				d.Notes = []diag.Note{{Text: fmt.Sprintf("%q is declared here", near), Range: nameRange(c.quotas[near])}}
				d.Edit = &diag.Edit{Range: r.Range, Text: "quota." + near}
				if units {
					d.Edit.Text = near
				}
			}
			c.report(d)
			continue
		case seen[r.Name]:
			c.report(diag.Diagnostic{Code: "F0139", Subject: r.Range, Context: b.Words(), Summary: fmt.Sprintf("Quota %q is named twice", r.Name),
				Detail: "A node takes a quota once. For several units, write  quota = { NAME = 2 }."})
			continue
		case units && declared.attr("capacity") == nil && !declared.stray:
			c.report(diag.Diagnostic{Code: "F0140", Subject: r.Range, Context: b.Words(), Summary: fmt.Sprintf("Quota %q has no units", r.Name),
				Detail: "Only a quota with  capacity  has units. Name this one in a list:  quota = [quota.NAME].",
				Notes:  []diag.Note{{Text: declared.Words() + " is declared here", Range: nameRange(declared)}}})
			continue
		}
		seen[r.Name], c.taken[r.Name] = true, true
		known = append(known, r)
	}
	a.Names = known
}

// units checks how many units an attribute takes of each quota.
func (c *checker) units(a *Attr, env *expr.Env) (list diag.List) {
	o, ok := a.Src.Expr().(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil
	}
	a.Env = make(map[string]*ir.Expr, len(o.Items))
	for _, item := range o.Items {
		name, ok := envKeyText(item.KeyExpr)
		if _, twice := a.Env[name]; !ok || twice {
			continue
		}
		at := syntax.Range(item.ValueExpr.Range())
		e, fixed, found := expr.Known(item.ValueExpr, a.Src.File.Src, env)
		list = append(list, found...)
		if e == nil || found.HasErrors() {
			continue
		}
		a.Env[name] = e
		list = append(list, expr.Conform(e, value.IntType, "Units of a quota", at)...)
		if fixed != nil && !list.HasErrors() {
			list = append(list, c.fits(name, fixed.Const, at)...)
		}
	}
	return list
}

// fits checks units that are known from the file.
func (c *checker) fits(quota string, units value.Value, at diag.Range) diag.List {
	n, ok := units.(float64)
	declared := c.quotas[quota]
	if !ok || declared == nil {
		return nil
	}
	most := float64(limits.MaxConcurrency)
	a := declared.attr("capacity")
	if a != nil && a.known != nil {
		if m, ok := a.known.Const.(float64); ok {
			most = m
		}
	}
	switch {
	case n > most:
		return diag.List{{Code: "F0140", Subject: at, Summary: fmt.Sprintf("Quota %q has %s units, and %s are taken", quota, value.Text(most), value.Text(n)),
			Detail: "The quota never has that many free units. Take fewer, or raise the capacity.",
			Notes:  []diag.Note{{Text: declared.Words() + " is declared here", Range: nameRange(declared)}}}}
	case n < 1 || n != math.Trunc(n):
		return diag.List{{Code: "F0140", Subject: at, Summary: fmt.Sprintf("Units of quota %q cannot be %s", quota, value.Text(n)),
			Detail: fmt.Sprintf("Units are a whole number from 1 to %s.", value.Text(most))}}
	}
	return nil
}
