package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// actionRules are what belongs to one kind of action.
type actionRules struct {
	// place is where the expressions of the action's block are computed; unused for an action that is an attribute.
	place where
	// block checks the action's block beyond what the schema says; nil where there is nothing to check.
	block func(*checker, *Block)
	// output is the type of what a step makes, before a declared output type.
	output func(*checker, *Workflow, *Node) value.Type
	// orders is set for an action that is written for the sake of its place in a sequence.
	orders bool
}

// actions holds every kind of action.
var actions map[ir.ActionKind]actionRules

func init() { // the rules lead back to what reads the table
	is := func(t value.Type) func(*checker, *Workflow, *Node) value.Type {
		return func(*checker, *Workflow, *Node) value.Type { return t }
	}
	actions = map[ir.ActionKind]actionRules{
		ir.RunAction:      {output: runOutput},
		ir.AgentAction:    {output: agentOutput},
		ir.ValueAction:    {output: valueOutput},
		ir.CallAction:     {output: callOutput},
		ir.HTTPAction:     {place: perAttempt, block: (*checker).request, output: is(ir.HTTPOutput)},
		ir.RememberAction: {place: perAttempt, block: (*checker).remember, output: is(rememberedType)},
		ir.RecallAction:   {place: perAttempt, block: (*checker).recall, output: is(foundType)},
		ir.KVAction:       {place: perAttempt, block: (*checker).kv, output: kvOutput},
		ir.EmitAction:     {place: perAttempt, block: (*checker).emit, output: is(ir.EmitOutput), orders: true},
		ir.SyncAction:     {place: perAttempt, block: (*checker).sync, output: is(ir.SyncOutput), orders: true},
		ir.NotifyAction:   {place: perAttempt, block: (*checker).notify, output: is(ir.NotifyOutput), orders: true},
		ir.HandoffAction:  {place: perAttempt, block: (*checker).handoff, output: is(ir.HandoffOutput), orders: true},
		ir.WaitAction:     {place: perNode, block: (*checker).wait, output: waitOutput, orders: true},
		ir.ApproveAction:  {place: perAttempt, block: (*checker).approve, output: approveOutput, orders: true},
		ir.FailAction:     {place: perNode, output: is(value.AnyType), orders: true},
		ir.EndAction:      {place: perNode, output: is(value.AnyType), orders: true},
	}
}

// action checks that a step does exactly one thing, and that what stands beside it belongs to it.
func (c *checker) action(n *Node) {
	var found []string
	var places []diag.Range
	for _, a := range schema.Actions {
		if b := n.Inner(a.Name); a.Block != nil && b != nil {
			found, places = append(found, a.Name), append(places, b.Src.Range)
		} else if src := n.Src.Body.Attr(a.Name); a.Block == nil && src != nil {
			found, places = append(found, a.Name), append(places, src.Range)
		}
	}
	switch {
	case len(found) == 0:
		if !n.stray {
			c.report(diag.Diagnostic{Code: "F0125", Subject: n.Src.Header, Context: n.Words(), Summary: fmt.Sprintf("Nothing to do in %s", n.Words()),
				Detail: schema.OneAction()})
		}
		return
	case len(found) > 1:
		c.report(diag.Diagnostic{Code: "F0126", Subject: places[1], Context: n.Words(), Summary: fmt.Sprintf("More than one action in %s", n.Words()),
			Detail: fmt.Sprintf("A step has exactly one action, but this one has %s. Make a separate step for each; a sequence puts them in order.", list(found)),
			Notes:  []diag.Note{{Text: "the first one", Range: places[0]}}})
		return
	}
	n.Does = ir.ActionKind(found[0])
	for _, src := range n.Src.Body.Attrs {
		with := schema.ActionsWith(src.Name)
		if with != nil && n.attr(src.Name) != nil && !contains(with, found[0]) {
			detail := n.misfit(src.Name)
			if detail == "" {
				detail = fmt.Sprintf("It belongs to steps with %s. Remove it, or change the action.", schema.Either(with))
			}
			if b := n.Inner(found[0]); b != nil && b.Schema.Attr(src.Name) != nil {
				detail = fmt.Sprintf("The block %s has this attribute, too. Write it there:  %s { %s = … }.", found[0], found[0], src.Name)
			}
			c.report(diag.Diagnostic{Code: "F0127", Subject: src.Range, Context: n.Words(), Summary: fmt.Sprintf("%s has no effect with %s", src.Name, found[0]), Detail: detail})
		}
	}
	useless := func(name string, at diag.Range) {
		c.report(diag.Diagnostic{Code: "F0127", Subject: at, Context: n.Words(), Summary: fmt.Sprintf("%s has no effect with %s", name, found[0]), Detail: n.misfit(name)})
	}
	if a := n.attr("escalate"); a != nil && !n.Does.Outward() {
		useless("escalate", a.Src.Range)
	}
	for _, kind := range []string{"compensate", "classify"} {
		if b := n.Inner(kind); b != nil && !n.Does.Outward() {
			useless(kind, b.Src.Range)
		}
	}
	if !n.Does.Judged() {
		for _, g := range n.Gates {
			useless("gate", g.Src.Range)
		}
	}
	n.waitsAgain = n.Does.Course() == ir.Pausing && c.asksAgain(n)
	b := n.Inner("retry")
	if b == nil || n.Does.Retried() {
		return
	}
	if !n.waitsAgain {
		useless("retry", b.Src.Range)
		return
	}
	for _, a := range b.Src.Body.Attrs {
		if a.Name != "max_attempts" && b.attr(a.Name) != nil {
			c.report(diag.Diagnostic{Code: "F0127", Subject: a.Range, Context: n.Words(), Summary: fmt.Sprintf("retry.%s has no effect with %s", a.Name, found[0]),
				Detail: "After the verdict of a gate the step waits again at once; a timeout, and a rejection by a person, are not retried. Write only  retry { max_attempts = 3 }.  For a timeout, write  escalate = escalation.NAME."})
		}
	}
}

// WaitsAgain reports whether the node is a wait or an approval with a gate that can have it wait again.
func (n *Node) WaitsAgain() bool { return n.waitsAgain }

// misfit says why an attribute or a block has no effect with the action of a step, and what to write instead; "" if nothing special is known.
func (n *Node) misfit(name string) string {
	does, course := string(n.Does), n.Does.Course()
	around := func(what string) string {
		return fmt.Sprintf("Write it on a group around the step:  sequence \"NAME\" { %s … }.", what)
	}
	switch name {
	case "env", "dir":
		return fmt.Sprintf("It is for programs, and only run and agent start one. Remove %s, or write it in a step with run.", name)
	case "fallback":
		if n.Does.Outward() {
			return "It names other agents for a task, and only a step with agent has one. For the reaction to a failure, write  escalate = escalation.NAME,  or remove it."
		}
		return "It names other agents for a task, and only a step with agent has one. Remove it."
	case "timeout":
		if course == ir.Computed {
			return fmt.Sprintf("%s takes no time. Remove it.", does)
		}
		return fmt.Sprintf("It limits an attempt of a program, an agent or a service, and the store carries out %s. Write  deadline { after = … }.", does)
	case "quota":
		return fmt.Sprintf("A quota is taken by an attempt that holds a slot, and %s holds none. %s", does, around("quota = quota.NAME"))
	case "retry":
		switch course {
		case ir.Stored:
			return fmt.Sprintf("%s makes no attempts: the store carries it out once. Write a  repeat  block with  max = 3  and  until = \"result.status == 'succeeded'\".", does)
		case ir.Pausing:
			return "It counts how often the step waits again after a gate with on_fail = \"retry\", and this step has no such gate; a timeout, and a rejection by a person, are not retried. Write  gates = [gate.NAME],  or, for the reaction to a failure,  escalate = escalation.NAME."
		}
		return fmt.Sprintf("%s would give the same result again. Remove it, or write it in a step that makes attempts.", does)
	case "escalate":
		return fmt.Sprintf("It is for failures of programs, services and people, and %s is computed by the run itself. %s", does, around("escalate = escalation.NAME"))
	case "classify":
		if n.Does == ir.FailAction {
			return "The step itself sets the kind of its error. Write  fail { kind = \"fatal\" }."
		}
		return fmt.Sprintf("It is for failures of programs, services and people, and %s is computed by the run itself. Remove it.", does)
	case "compensate":
		return fmt.Sprintf("It undoes the effects of a step outside of the run, and %s has no such effects. Write it in the step that has them.", does)
	case "gates", "gate":
		return fmt.Sprintf("A gate judges a result, and %s has none. Remove it, or write it in an earlier step.", does)
	case "output":
		switch {
		case n.Does == ir.ApproveAction:
			return "The output of an approval always has the same members. For values that people enter, write  approve { input \"NAME\" { type = TYPE } }."
		case n.Does == ir.WaitAction:
			return "The output of a wait is the data of its event. Write  wait { data = TYPE }."
		}
		return fmt.Sprintf("%s has no output. Remove it.", does)
	}
	return ""
}

func valueOutput(c *checker, w *Workflow, n *Node) value.Type {
	a := n.attr("value")
	c.expression(n.Block, a, c.envAt(w, n, perNode))
	if a.Expr == nil {
		return value.AnyType
	}
	return a.Expr.Type
}

func runOutput(_ *checker, _ *Workflow, n *Node) value.Type {
	switch {
	case n.WritesOutput():
	case n.Text("parse") == "" || n.Text("parse") == "text":
		return value.StringType
	case n.Text("parse") == "lines":
		return value.List(value.StringType)
	case n.Text("parse") == "none":
		return nullType
	}
	return value.AnyType
}

// agentOutput is what all agents give that may have the task.
func agentOutput(c *checker, _ *Workflow, n *Node) value.Type {
	all := c.agentsOf(n)
	if len(all) == 0 { // which has been reported
		return value.AnyType
	}
	t := n.makes(all[0])
	for _, g := range all[1:] {
		if g != all[0] {
			t = c.work.Unify(t, n.makes(g))
		}
	}
	return t
}

// makes is the type of what an agent gives to a step, before a type that the step declares. A command-line assistant whose answer nobody wants in a type gives an object of all that it
// prints.
func (n *Node) makes(g *Block) value.Type {
	switch {
	case n.givesAll(g):
		return value.Map(value.AnyType)
	case g != nil && n.attr("output") != nil && g.attr("output") == nil && (g.Text("type") == "chat" || g.Text("type") == "acp"):
		return value.AnyType // the agent is asked for the type of the step
	}
	return g.makes()
}

// givesAll reports whether the output of a step by an agent is all that a command-line assistant prints.
func (n *Node) givesAll(g *Block) bool {
	return g != nil && n.attr("output") == nil && g.attr("output") == nil && g.Text("output_format") == ir.OutputAssistant
}

// outputHere is the output of a step where an expression begins.
var outputHere = lazyregexp.New(`^step\.([A-Za-z_][\w-]*)\.output\b`)

// assistantOutput says where the answer is of a diagnostic about the output of an assistant that is not a text.
func (c *checker) assistantOutput(d *diag.Diagnostic) {
	if d.Code != "F0227" && d.Code != "F0306" {
		return
	}
	i := slices.IndexFunc(c.sources, func(f *syntax.File) bool { return f.Name == d.Subject.File })
	if i < 0 {
		return
	}
	src := c.sources[i].Src
	m := outputHere().FindSubmatch(src[min(d.Subject.Start.Byte, len(src)):])
	if m == nil {
		return
	}
	for _, w := range c.workflows { // any order: one is enough
		if n := w.ByName[string(m[1])]; n != nil && n.Does == ir.AgentAction && slices.ContainsFunc(c.agentsOf(n), n.givesAll) {
			d.Detail = fmt.Sprintf("The output is the object that the assistant prints. Its answer is %s.result. Or declare the type of the answer in step %q, for a text  output = string.", m[0], n.Name)
			return
		}
	}
}

// assignees are the agents and pools that may have the task of a step: those of agent, then those of fallback.
func (n *Node) assignees() (out []expr.Name) {
	for _, attr := range []string{"agent", "fallback"} {
		if a := n.attr(attr); a != nil {
			out = append(out, a.Names...)
		}
	}
	return out
}

func callOutput(c *checker, _ *Workflow, n *Node) value.Type {
	if w := c.called(n); w != nil {
		return w.outputType()
	}
	return value.AnyType
}
