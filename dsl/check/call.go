package check

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// calls are the workflows in an order in which each comes after those that it calls. A circle of calls is a fault.
func (c *checker) calls() []*Workflow {
	all := c.program.Workflows
	number := make(map[*Workflow]int, len(all))
	for i, w := range all {
		number[w] = i
	}
	g := newGraph(len(all))
	for i, w := range all {
		for _, n := range w.All {
			if to := c.called(n); to != nil {
				g.edge(i, number[to])
			}
			for _, to := range c.healers(n.escalation) {
				g.edge(i, number[to])
			}
		}
		for _, to := range c.adaptCalls(w) {
			g.edge(i, number[to])
		}
	}
	for _, circle := range g.cycles() {
		if len(circle) > 1 {
			c.circle("F0261", "call each other", "Such runs would never end. Remove one of these calls.", circle, func(i int) (string, diag.Range) {
				return all[i].Name, nameRange(all[i].Block)
			})
			continue
		}
		w := all[circle[0]]
		c.report(diag.Diagnostic{Code: "F0261", Subject: nameRange(w.Block), Summary: fmt.Sprintf("Workflow %q calls itself", w.Name),
			Detail: "Such a run would never end. To repeat steps, use  repeat { until = \"CONDITION\", max = N }."})
	}
	var out []*Workflow
	for _, i := range g.order() {
		out = append(out, all[i])
	}
	return out
}

// called is the workflow that a step calls, or nil.
func (c *checker) called(n *Node) *Workflow {
	if a := n.attr("call"); a != nil {
		return c.workflows[a.ref().Name]
	}
	return nil
}

// inputType is what a call of the workflow must be given. All calls share one type.
func (w *Workflow) inputType() value.Type {
	if w.takes == nil {
		t := w.typeOfInputs()
		w.takes = &t
	}
	return *w.takes
}

func (w *Workflow) typeOfInputs() value.Type {
	attrs := make(map[string]value.Type, len(w.Inputs))
	for _, in := range w.Inputs {
		if in.Default == nil {
			w.required = append(w.required, in.Name)
		}
		t := in.Type
		t.Optional = in.Default != nil
		attrs[in.Name] = t
	}
	return value.Object(attrs)
}

// outputType is what a call of the workflow gives. All calls share one type, which is known once the workflow is checked.
func (w *Workflow) outputType() value.Type {
	if w.gives == nil {
		t := w.typeOfOutputs()
		w.gives = &t
	}
	return *w.gives
}

func (w *Workflow) typeOfOutputs() value.Type {
	attrs := make(map[string]value.Type, len(w.Outputs))
	for _, o := range w.Outputs {
		attrs[o.Name] = value.AnyType
		if e := o.Expr("value"); e != nil {
			attrs[o.Name] = e.Type
		}
	}
	return value.Object(attrs)
}

// callWith checks what a call gives to a workflow: no input that it does not have, all that it must have, each of its type.
func (c *checker) callWith(n *Node) {
	if to := c.called(n); to != nil {
		c.givenTo(to, n.Block, n.attr("call"))
	}
}

// givenTo checks the attribute with of a block that has a workflow run; call is the attribute that names the workflow.
func (c *checker) givenTo(to *Workflow, b *Block, call *Attr) {
	a := b.attr("with")
	if a != nil && a.Expr == nil || c.full() {
		return
	}
	c.secretInputs(b, to)
	given, at := value.Object(nil), call.span()
	if a != nil {
		given, at = a.Expr.Type, a.span()
	}
	if given.Kind != value.ObjectT {
		if list := expr.Conform(a.Expr, value.Map(value.AnyType), "with", at); list != nil {
			c.in(b, list)
		}
		return
	}
	want := to.inputType()
	bad := false
	for _, name := range given.Names() {
		if _, known := want.Attrs[name]; known {
			continue
		}
		bad = true
		if c.full() {
			break
		}
		d := diag.Diagnostic{Code: "F0281", Subject: a.key(name), Context: b.Words(), Summary: fmt.Sprintf("Workflow %q has no input %q", to.Name, name),
			Detail: "It has none."}
		if near := c.nearestOf(name, want.Names); near != "" {
			d.Detail = fmt.Sprintf("Did you mean %q?", near)
			if d.Subject != at {
				d.Edit = &diag.Edit{Range: d.Subject, Text: near}
			}
		} else if len(want.Attrs) > 0 {
			d.Detail = fmt.Sprintf("It has %s.", some(want.Names()))
		}
		d.Notes = []diag.Note{{Text: to.Words() + " is declared here", Range: nameRange(to.Block)}}
		c.report(d)
	}
	var missing []string
	for _, name := range to.required {
		if _, there := given.Attrs[name]; !there {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		bad = true
		c.report(diag.Diagnostic{Code: "F0281", Subject: at, Context: b.Words(), Summary: fmt.Sprintf("No value for %s of workflow %q", some(missing), to.Name),
			Detail: fmt.Sprintf("Inputs without a default are required:  with = { %s = … }.", strings.Join(missing[:min(len(missing), maxNamed)], " = …, ")),
			Notes:  []diag.Note{{Text: to.Words() + " is declared here", Range: nameRange(to.Block)}}})
	}
	if a == nil || bad {
		return
	}
	for _, name := range given.Names() {
		if expr.Assignable(given.Attrs[name], want.Attrs[name]) == expr.No {
			e := &ir.Expr{Kind: ir.HCL, Type: given.Attrs[name]}
			c.in(b, expr.Conform(e, want.Attrs[name], fmt.Sprintf("Input %q of workflow %q", name, to.Name), a.member(name)))
		}
	}
}

// key is where an object that is written out names one of its members, or the whole of it.
func (a *Attr) key(name string) diag.Range {
	if item := a.item(name); item != nil {
		return syntax.Range(item.KeyExpr.Range())
	}
	return a.span()
}

// member is where the value of a member stands.
func (a *Attr) member(name string) diag.Range {
	if item := a.item(name); item != nil {
		return syntax.Range(item.ValueExpr.Range())
	}
	return a.span()
}

// item finds a member of an object that is written out.
func (a *Attr) item(name string) *hclsyntax.ObjectConsItem {
	p := a.parts()
	if p.items == nil {
		p.items = map[string]*hclsyntax.ObjectConsItem{}
		if o, ok := a.Src.Expr().(*hclsyntax.ObjectConsExpr); ok {
			for i := range o.Items {
				if key, ok := envKeyText(o.Items[i].KeyExpr); ok && p.items[key] == nil {
					p.items[key] = &o.Items[i]
				}
			}
		}
	}
	return p.items[name]
}
