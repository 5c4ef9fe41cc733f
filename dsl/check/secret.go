package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
)

// mayBeSecret says in which attributes of which blocks a sensitive value may stand: those that are computed when an attempt
// starts, by who carries it out, and never written down. A local hands it on.
var mayBeSecret = map[string][]string{
	"step": {"run", "stdin", "env", "with", "task"}, "http": {"url", "headers", "query", "body"},
	"agent": {"command", "run", "env", "url", "headers", "key", "base_url"}, "compensate": {"run", "env"},
	"channel": {"url", "secret", "headers", "command"}, "source": {"token", "url", "headers", "command"}, "on": {"secret"},
	"workflow": {"env"}, "sequence": {"env"}, "parallel": {"env"}, "switch": {"env"}, "validation": {"condition"}, "level": {"with"}, "server": {"command", "env", "url", "headers"},
}

// secret reports a sensitive value where it may not stand.
func (c *checker) secret(b *Block, a *Attr) (list diag.List) {
	if b == nil || contains(mayBeSecret[b.Schema.Kind], a.Src.Name) {
		return nil
	}
	a.each(func(e *ir.Expr) {
		if !e.Sensitive || list != nil {
			return
		}
		list = diag.List{{Code: "F0271", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("Sensitive value in %s of %s", a.Src.Name, b.Words()),
			Detail: fmt.Sprintf("flowrun stores or shows this value. %sA sensitive value is allowed in run, stdin, env, task and with of a step, and in http.", c.named(e))}}
	})
	return list
}

// named says what in an expression is sensitive.
func (c *checker) named(e *ir.Expr) string {
	for _, r := range e.Reads {
		if root := c.global[r.Root]; root != nil && root.Secret[r.Name] {
			return fmt.Sprintf("%s is, or reads, a sensitive variable. ", r)
		}
	}
	return "An input that it reads is sensitive. "
}

// each calls f with every expression of an attribute.
func (a *Attr) each(f func(*ir.Expr)) {
	if a.Expr != nil {
		f(a.Expr)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		if e := a.Env[name]; e != nil {
			f(e)
		}
	}
	for i := range a.Values {
		f(&a.Values[i])
	}
	for _, e := range a.picks {
		if e != nil {
			f(e)
		}
	}
}

// secretInputs checks that what a call gives stays as sensitive as it is.
func (c *checker) secretInputs(b *Block, to *Workflow) {
	a := b.attr("with")
	if a == nil || a.Expr == nil || !a.Expr.Sensitive {
		return
	}
	if a.Members == nil {
		c.report(diag.Diagnostic{Code: "F0271", Subject: a.span(), Context: b.Words(), Summary: "Sensitive inputs in a computed object",
			Detail: "The names of sensitive inputs must be literals:  with = { NAME = … }."})
		return
	}
	for _, name := range slices.Sorted(maps.Keys(a.Members)) {
		_, declared := to.inputs.Names[name]
		if e := a.Members[name]; !declared || e == nil || !e.Sensitive || to.inputs.Secret[name] {
			continue
		}
		c.report(diag.Diagnostic{Code: "F0271", Subject: a.member(name), Context: b.Words(), Summary: fmt.Sprintf("Sensitive value for the input %q of %s, which is not", name, to.Words()),
			Detail: "The inputs of a run are written to its journal. Declare the input with  sensitive = true.",
			Notes:  []diag.Note{{Text: fmt.Sprintf("%q is declared here", name), Range: to.inputs.Decl(name)}}})
	}
}

// members takes a sensitive object apart, if it is written out.
func (a *Attr) members(env *expr.Env) {
	object, ok := a.Src.Expr().(*hclsyntax.ObjectConsExpr)
	if !ok || a.Expr == nil || !a.Expr.Sensitive {
		return
	}
	a.Members = map[string]*ir.Expr{}
	for i := range object.Items {
		key, ok := envKeyText(object.Items[i].KeyExpr)
		if !ok {
			a.Members = nil
			return
		}
		a.Members[key], _ = expr.Value(object.Items[i].ValueExpr, a.Src.File.Src, env) // what is wrong has been reported
	}
}

// sensitive tells whether a variable or input is declared so.
func (v *Decl) sensitive() bool {
	a := v.attr("sensitive")
	if a == nil {
		return false
	}
	on, _ := flag(a.Src.Expr())
	return on
}

// secrets are the sensitive ones of a list of declarations.
func secrets(decls []*Decl) map[string]bool {
	out := map[string]bool{}
	for _, v := range decls {
		if v.sensitive() {
			out[v.Name] = true
		}
	}
	return out
}

// personal reports sensitive values in the task of a person: people read the inbox, and it is kept.
func (c *checker) personal(n *Node) {
	if n.attr("agent") == nil {
		return
	}
	i := slices.IndexFunc(c.agentsOf(n), func(g *Block) bool { return g.Text("type") == "human" })
	if i < 0 {
		return
	}
	for _, name := range []string{"task", "with"} {
		a := n.attr(name)
		if a == nil {
			continue
		}
		found := false
		a.each(func(e *ir.Expr) {
			if e.Sensitive && !found {
				found = true
				c.report(diag.Diagnostic{Code: "F0271", Subject: a.span(), Context: n.Words(), Summary: fmt.Sprintf("Sensitive value in %s of a task for a person", name),
					Detail: fmt.Sprintf("%sAgent %q is a person, and tasks for people are stored in the inbox and in the journal. Tell the person where to find the value, or give the task to a program.", c.named(e), c.agentsOf(n)[i].Name)})
			}
		})
	}
}
