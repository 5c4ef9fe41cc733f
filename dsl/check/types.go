package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// localTypes checks the locals, each after those that it reads.
func (c *checker) localTypes() {
	var order []*Attr
	index := map[string]int{}
	for _, a := range c.program.Locals {
		if c.locals[a.Src.Name] == a {
			index[a.Src.Name] = len(order)
			order = append(order, a)
		}
	}
	g := newGraph(len(order))
	for i, a := range order {
		for _, r := range expr.Refs(a.Src.Expr()) {
			if j, ok := index[r.Name]; ok && r.Root == "local" {
				g.edge(i, j)
			}
		}
	}
	for _, cycle := range g.cycles() {
		c.circle("F0226", "need each other", neverBegin, cycle, func(i int) (string, diag.Range) { return "local." + order[i].Src.Name, order[i].Src.Range })
	}
	env := c.env(nil, nil)
	for _, i := range g.order() {
		a := order[i]
		c.expression(nil, a, env)
		if a.Expr != nil {
			c.global["local"].Names[a.Src.Name] = a.Expr.Type
			c.global["local"].Secret[a.Src.Name] = a.Expr.Sensitive
			if a.known != nil {
				c.global["local"].Fixed[a.Src.Name] = a.known.Const
			}
		}
	}
}

// nodeTypes finds the result type of every node, in the order of what reads what: a node after the nodes that its value
// and for_each read, a group after its children.
func (c *checker) nodeTypes(w *Workflow) {
	w.result = make(map[string]value.Type, len(w.ByName))
	for name := range w.ByName { // any order: each for itself
		w.result[name] = anyResult
	}
	w.roots = roots{
		"input": w.inputs,
		"run":   {What: "run", Type: runType, HiddenAttrs: ended},
		"step": {What: "step", Names: w.result, Why: w.because(nil), Absent: absentAttrs, Decl: func(n string) diag.Range {
			if node := w.ByName[n]; node != nil {
				return nameRange(node.Block)
			}
			return diag.Range{}
		}},
	}

	// Two points for each node: 2i its for_each is typed, 2i+1 its output is.
	g := newGraph(2 * len(w.All))
	for i, n := range w.All {
		g.edge(2*i+1, 2*i)
		n.asksSuccess(w)
		if n.Parent != nil {
			g.edge(2*i, 2*n.Parent.index)
		}
		c.reads(w, g, 2*i, n.attr("for_each"))
		c.reads(w, g, 2*i+1, n.attr("value"))
		if b := n.Inner("degrade"); b != nil {
			c.reads(w, g, 2*i+1, b.attr("output"))
		}
		for _, child := range n.Children {
			g.edge(2*i+1, 2*child.index+1)
		}
		if n.Before != nil && n.attr("value") != nil {
			g.edge(2*i+1, 2*n.Before.index+1)
		}
	}
	for _, p := range g.order() {
		n := w.All[p/2]
		if p%2 == 0 {
			c.eachType(w, n)
			continue
		}
		n.output = c.output(w, n)
		if w.ByName[n.Name] == n {
			w.result[n.Name] = w.resultFor(n, nil)
		}
	}
	w.forget()
}

// reads draws an edge to the output of each node that an HCL attribute reads.
func (c *checker) reads(w *Workflow, g *graph, from int, a *Attr) {
	if a == nil {
		return
	}
	for _, r := range expr.Refs(a.Src.Expr()) {
		if n := w.ByName[r.Name]; r.Root == "step" && n != nil {
			g.edge(from, 2*n.index+1)
		}
	}
}

// eachType checks a node's for_each.
func (c *checker) eachType(w *Workflow, n *Node) {
	a := n.attr("for_each")
	if a == nil {
		return
	}
	c.expression(n.Block, a, c.envAt(w, n, once))
	if a.Expr == nil {
		return
	}
	d := diag.Diagnostic{Subject: a.span(), Context: n.Words()}
	switch t := a.Expr.Type; {
	case t.IsAny():
		return
	case t.Nullable:
		d.Code, d.Summary = "F0214", "for_each may be null"
		d.Detail = fmt.Sprintf("Give a value for that case: coalesce(%s, []) starts no instances.", a.Src.Text())
	case t.Kind == value.SetT && t.Elem.Kind != value.StringT && !t.Elem.IsAny():
		d.Code, d.Summary = "F0215", fmt.Sprintf("for_each over a set of %s", t.Elem)
		d.Detail = "The members of a set are the keys of its instances, so they must be strings. Use tolist() for instances by position."
	case t.Kind == value.ListT, t.Kind == value.SetT, t.Kind == value.MapT, t.Kind == value.TupleT, t.Kind == value.ObjectT:
		a.Expr = compact(a)
		return
	default:
		d.Code, d.Summary = "F0216", fmt.Sprintf("for_each over a %s", t)
		d.Detail = "It starts an instance for each member of a list, a set or a map. For N equal instances, use range(N)."
		if t.Kind == value.StringT {
			d.Detail = "It starts an instance for each member of a list, a set or a map. To split a text into a list, write split(\",\", TEXT)."
		}
	}
	a.Expr = nil
	c.report(d)
}

// maxSpelledOut is how many members of a list a definition holds where a shorter text computes them.
const maxSpelledOut = 1000

// compact leaves a for_each such as range(50000) as its text: its instances are computed once, when the node starts, and the list would
// make the definition, which each run reads and keeps, 290 KB longer.
func compact(a *Attr) *ir.Expr {
	list, ok := a.Expr.Const.([]any)
	if !ok || len(list) <= maxSpelledOut || len(a.Src.Text()) > len(list) {
		return a.Expr
	}
	e := &ir.Expr{Kind: ir.HCL, Text: a.Src.Text(), Type: a.Expr.Type}
	laidOut(e)
	return e
}

// output is the type of one instance's output.
func (c *checker) output(w *Workflow, n *Node) value.Type {
	made := c.made(w, n)
	a := n.attr("output")
	if a == nil || a.Type == nil {
		return c.degraded(w, n, made)
	}
	if expr.Assignable(made, *a.Type) == expr.No {
		c.report(diag.Diagnostic{Code: "F0217", Subject: a.span(), Context: n.Words(), Summary: "The output is never " + withArticle(a.Type.String()),
			Detail: fmt.Sprintf("The output of the %s is %s, and flowrun does not convert outputs. %s", n.Schema.Kind, withArticle(made.String()), outputFix(n, made))})
	}
	return c.degraded(w, n, *n.OutputType())
}

// degraded is the type of an output that another one can stand in for.
func (c *checker) degraded(w *Workflow, n *Node, made value.Type) value.Type {
	b := n.Inner("degrade")
	if b == nil || b.attr("output") == nil {
		return made
	}
	a := b.attr("output")
	c.expression(n.Block, a, c.envAt(w, n, inDegrade))
	if a.Expr == nil {
		return value.AnyType
	}
	return c.work.Unify(made, a.Expr.Type)
}

func outputFix(n *Node, made value.Type) string {
	if n.attr("run") != nil && n.Text("parse") != "json" {
		return `With parse = "json", flowrun reads standard output as JSON. A program can also write NAME=VALUE lines to the file $FLOWRUN_OUTPUT; then name the file in run.`
	}
	if n.attr("agent") != nil && made.Kind == value.StringT {
		return `If the agent has  output_format = "text", remove it: without it, flowrun reads the answer as JSON.`
	}
	if n.Schema.Kind != "step" {
		return "Change the type, or compute the output with value."
	}
	return "Change the type or the step."
}

// groupOutput is the type of what a group makes: of its value, where it has one.
func (c *checker) groupOutput(w *Workflow, n *Node) value.Type {
	a := n.attr("value")
	if a == nil {
		return w.members(n)
	}
	c.expression(n.Block, a, c.envAt(w, n, inResult))
	if a.Expr == nil {
		return value.AnyType
	}
	return a.Expr.Type
}

// members is the type of what a group without a value makes: an object of the outputs of its nodes, null for those that came to nothing.
func (w *Workflow) members(n *Node) value.Type {
	attrs := map[string]value.Type{}
	for _, child := range n.Children {
		if child.Name == "" {
			continue
		}
		t := w.resultFor(child, n).Attrs["output"]
		if n.Schema.Kind == "switch" || n.Schema.Kind == "parallel" && n.attr("for_each") == nil && n.picks() {
			t = t.OrNull()
		}
		attrs[child.Name] = t
	}
	return value.Object(attrs)
}

// makes is the type of what an agent gives.
func (b *Block) makes() value.Type {
	switch {
	case b == nil:
	case b.attr("output") != nil && b.attr("output").Type != nil:
		return *b.attr("output").Type
	case b.Text("type") == "acp":
		return value.StringType
	case b.Text("type") == "chat", b.Text("type") != "null" && b.Text("output_format") == "text":
		return value.StringType
	}
	return value.AnyType
}

// made is the type of what a node makes, before a declared output type. Of a step that was refused it is any.
func (c *checker) made(w *Workflow, n *Node) value.Type {
	if n.Schema.Kind != "step" {
		return c.groupOutput(w, n)
	}
	if rules, ok := actions[n.Does]; ok {
		return rules.output(c, w, n)
	}
	return value.AnyType
}
