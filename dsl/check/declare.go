package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// book remembers which names of one kind are taken, and where.
type book map[string]taken

type taken struct {
	name  string
	place diag.Range
}

// enter takes a name. A second declaration, and one that differs in case only, is reported.
func (c *checker) enter(b book, kind, name string, at diag.Range) bool {
	if name == "" {
		return false
	}
	first, there := b[strings.ToLower(name)]
	if !there {
		b[strings.ToLower(name)] = taken{name, at}
		return true
	}
	d := diag.Diagnostic{Code: "F0201", Subject: at, Summary: fmt.Sprintf("%s %q is declared twice", kind, name),
		Detail: "Names must be unique. Rename one of the two.",
		Notes:  []diag.Note{{Text: "declared first", Range: first.place}}}
	if first.name != name {
		d.Code, d.Summary = "F0202", fmt.Sprintf("%s %q differs from %q in case only", kind, name, first.name)
		d.Detail = "Such names are easy to confuse, and some file systems cannot store both. Rename one of the two."
	}
	c.report(d)
	return false
}

// file decodes the top level and enters what it declares.
func (c *checker) file(f *syntax.File) {
	top := schema.Blocks["file"]
	for _, a := range f.Body.Attrs {
		detail := "The top of a file contains only blocks: variable, locals, agent, pool, gate, quota, channel, escalation, memory, on, routine, loop and workflow. Put named values into  locals { … }."
		switch {
		case a.Name == "name":
			name := "NAME"
			if text, ok := literal(a.Expr()); ok && goodName(text) {
				name = text
			}
			detail = fmt.Sprintf("The label of a workflow is its name:  workflow %q { … }.", name)
		case a.Name == "on" || a.Name == "schedule":
			detail = schema.Absent["on"]
		case schema.Blocks["workflow"].Attr(a.Name) != nil:
			detail = "A workflow can have it: put it into  workflow \"NAME\" { … }."
		}
		c.report(diag.Diagnostic{Code: "F0112", Subject: a.Range, Summary: fmt.Sprintf("Attribute %q outside of a block", a.Name), Detail: detail})
	}
	for _, b := range c.inner(nil, &f.Body, top, "") {
		p := c.program
		switch b.Schema.Kind {
		case "variable":
			p.Variables = append(p.Variables, &Decl{Block: b})
		case "locals":
			for _, src := range b.Src.Body.Attrs {
				p.Locals = append(p.Locals, b.Attrs[src.Name])
			}
		case "flowrun":
			if p.Settings != nil {
				c.report(diag.Diagnostic{Code: "F0107", Subject: b.Src.Range, Summary: "A second block flowrun in the program",
					Detail: "A program has one block with settings. Move everything into one block.", Notes: []diag.Note{{Text: "the first one", Range: p.Settings.Src.Range}}})
			}
			p.Settings = b
		case "memory":
			if p.Memory != nil {
				c.report(diag.Diagnostic{Code: "F0107", Subject: b.Src.Range, Summary: "A second block memory in the program",
					Detail: "A program has one block memory. Move everything into one block.", Notes: []diag.Note{{Text: "the first one", Range: p.Memory.Src.Range}}})
				continue
			}
			p.Memory = b
		case "agent":
			p.Agents = append(p.Agents, b)
		case "pool":
			p.Pools = append(p.Pools, b)
		case "gate":
			p.Gates = append(p.Gates, b)
		case "quota":
			p.Quotas = append(p.Quotas, b)
		case "channel":
			p.Channels = append(p.Channels, b)
		case "on":
			p.Ons = append(p.Ons, b)
		case "routine":
			p.Routines = append(p.Routines, b)
		case "escalation":
			p.Escalations = append(p.Escalations, b)
		case "loop":
			p.Loops = append(p.Loops, b)
		case "workflow":
			p.Workflows = append(p.Workflows, &Workflow{Block: b, plain: c.plain})
		}
	}
}

// globals enters and checks what stands at the top, but the insides of workflows.
func (c *checker) globals() {
	p := c.program
	books := map[string]book{"variable": {}, "local": {}, "agent": {}, "pool": {}, "gate": {}, "quota": {}, "channel": {}, "workflow": {}, "escalation": {}, "loop": {}, "routine": {}}
	enter := func(b *Block) bool {
		k := b.Schema.Kind
		return c.enter(books[k], strings.ToUpper(k[:1])+k[1:], b.Name, nameRange(b))
	}
	for _, a := range p.Locals {
		if !goodName(a.Src.Name) {
			c.report(diag.Diagnostic{Code: "F0105", Subject: a.Src.Range, Summary: fmt.Sprintf("%.80q cannot be a name", a.Src.Name),
				Detail: fmt.Sprintf("A name begins with a letter or _, contains letters, digits, _ and -, and has at most %d characters.", MaxName)})
		} else if c.enter(books["local"], "Local", a.Src.Name, a.Src.Range) {
			c.locals[a.Src.Name] = a
		}
	}
	for _, v := range p.Variables {
		enter(v.Block)
	}
	if p.Settings != nil {
		c.static(p.Settings)
		c.settings(p.Settings)
	}
	c.makeGlobals()
	for _, v := range p.Variables {
		c.decl(v)
		c.vars[v.Name] = v.read()
	}
	for _, v := range p.Variables {
		env := c.env(nil, nil)
		delete(env.Roots, "local")
		env.Hidden["local"] = notLocal
		c.validations(v, "var", env)
	}
	for _, a := range p.Agents {
		if enter(a); c.agents[a.Name] == nil {
			c.agents[a.Name] = a
		}
		c.static(a)
	}
	for _, b := range p.Pools {
		if enter(b); c.pools[b.Name] == nil {
			c.pools[b.Name] = b
		}
		c.static(b)
		c.pool(b)
	}
	for _, g := range p.Gates {
		if enter(g); c.gates[g.Name] == nil {
			c.gates[g.Name] = g
		}
		c.static(g)
	}
	for _, q := range p.Quotas {
		if enter(q); c.quotas[q.Name] == nil {
			c.quotas[q.Name] = q
		}
		c.static(q)
	}
	for _, b := range p.Channels {
		if enter(b); c.channels[b.Name] == nil {
			c.channels[b.Name] = b
		}
		c.static(b)
	}
	for _, b := range p.Routines {
		enter(b)
		c.static(b)
	}
	for _, b := range p.Escalations {
		if enter(b); c.escalations[b.Name] == nil {
			c.escalations[b.Name] = b
		}
		c.static(b)
	}
	for _, b := range p.Ons {
		c.static(b)
	}
	var first *Workflow
	for _, w := range p.Workflows {
		if enter(w.Block) {
			c.workflows[w.Name], c.callable[w.Name] = w, w.Block
		}
		c.static(w.Block)
		if a := w.attr("default"); a != nil && a.Flag {
			if first != nil {
				c.report(diag.Diagnostic{Code: "F0203", Subject: a.Src.Range, Context: w.Words(), Summary: "More than one default workflow",
					Detail: "Only one workflow of a program can have default = true: the one that runs if the command names none.",
					Notes:  []diag.Note{{Text: "the first one", Range: first.attr("default").Src.Range}}})
			} else {
				first = w
			}
		}
	}
	for _, b := range p.Loops {
		if w := c.workflows[b.Name]; c.enter(books["loop"], "Loop", b.Name, nameRange(b)) && w != nil {
			c.report(diag.Diagnostic{Code: "F0201", Subject: nameRange(b), Summary: fmt.Sprintf("Loop %q has the name of a workflow", b.Name),
				Detail: "flowrun finds runs by the names of workflows and loops. Rename one of the two.", Notes: []diag.Note{{Text: "the workflow", Range: nameRange(w.Block)}}})
		}
		c.static(b)
	}
	c.localTypes()
	if p.Memory != nil {
		c.memory(p.Memory)
	}
	for _, q := range p.Quotas {
		c.quota(q)
	}
	for _, b := range p.Channels {
		c.channel(b)
	}
	for _, a := range p.Agents {
		c.agent(a)
	}
	for _, g := range p.Gates {
		c.gate(g)
		c.topGate(g)
		c.schema(g)
	}
}

// nameRange is the place of a block's label, or of its kind where it has none.
func nameRange(b *Block) diag.Range {
	if len(b.Src.Labels) > 0 {
		return b.Src.Labels[0].Range
	}
	return b.Src.Range
}

// nodes makes the tree of a workflow's nodes and enters their names.
func (c *checker) nodes(w *Workflow) {
	w.ByName = map[string]*Node{}
	books := map[string]book{"input": {}, "node": {}, "output": {}}
	final := false
	var add func(parent *Node, number int, blocks []*Block) []*Node
	add = func(parent *Node, number int, blocks []*Block) (out []*Node) {
		for _, b := range blocks {
			if !isNode(b) {
				continue
			}
			n := &Node{Block: b, Parent: parent, Case: number, final: final, index: len(w.All)}
			if parent != nil {
				n.Depth = parent.Depth + 1
				if parent.Schema.Kind == "sequence" && len(out) > 0 {
					n.Before = out[len(out)-1]
				}
			}
			w.All = append(w.All, n)
			out = append(out, n)
			if c.enter(books["node"], "Node", b.Name, nameRange(b)) {
				w.ByName[b.Name] = n
				w.names = append(w.names, b.Name)
			}
			if b.Schema.Kind == "switch" {
				for i, way := range n.Cases() {
					n.Children = append(n.Children, add(n, i+1, way.Blocks)...)
				}
				c.cases(n)
				continue
			}
			if b.Schema.Kind != "step" {
				n.Children = add(n, 0, b.Blocks)
				if len(n.Children) == 0 && !b.stray {
					c.report(diag.Diagnostic{Code: "F0113", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("No steps in %s", b.Words()),
						Detail: "Add steps to the group, or remove it."})
				}
				continue
			}
			gates := book{}
			for _, g := range b.Blocks {
				if g.Schema.Kind == "gate" && c.enter(gates, "Gate", g.Name, nameRange(g)) {
					n.Gates = append(n.Gates, g)
				}
			}
		}
		return out
	}
	for _, b := range w.Blocks {
		switch b.Schema.Kind {
		case "input":
			c.enter(books["input"], "Input", b.Name, nameRange(b))
			w.Inputs = append(w.Inputs, &Decl{Block: b})
		case "output":
			c.enter(books["output"], "Output", b.Name, nameRange(b))
			w.Outputs = append(w.Outputs, b)
		}
	}
	w.Nodes = add(nil, 0, w.Blocks)
	if b := w.Inner("finally"); b != nil {
		final = true
		w.Finally = add(nil, 0, b.Blocks)
		if len(w.Finally) == 0 && !b.stray {
			c.report(diag.Diagnostic{Code: "F0113", Subject: b.Src.Header, Context: w.Words(), Summary: "No steps in finally",
				Detail: "Add steps to the block, or remove it."})
		}
	}
	if len(w.Nodes) == 0 && !w.stray {
		c.report(diag.Diagnostic{Code: "F0114", Subject: w.Src.Header, Context: w.Words(), Summary: fmt.Sprintf("No steps in %s", w.Words()),
			Detail: "A workflow needs at least one step: step \"NAME\" { run = [\"PROGRAM\"] }."})
	}
}
