package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// asked reads the inputs of an approval.
func (c *checker) asked(n *Node) {
	b := n.Inner("approve")
	if b == nil {
		return
	}
	names, types, places := book{}, map[string]value.Type{}, map[string]diag.Range{}
	for _, i := range b.Blocks {
		if !c.enter(names, "Input", i.Name, nameRange(i)) {
			continue
		}
		in := &Decl{Block: i}
		c.decl(in)
		types[in.Name], places[in.Name] = in.read(), nameRange(i)
		n.Asked = append(n.Asked, in)
	}
	root := &expr.Root{What: "input", Names: types, Secret: map[string]bool{}, Used: map[string]bool{}, Decl: func(n string) diag.Range { return places[n] }}
	for _, in := range n.Asked {
		env := c.env(roots{"input": root}, map[string]string{"step": "flowrun checks an answer when it is given, so the condition reads only the answer and variables."})
		delete(env.Roots, "local")
		env.Hidden["local"] = notLocal
		c.validations(in, "input", env)
		for _, v := range in.Blocks {
			if a := v.attr("condition"); a != nil && a.Expr != nil && a.Expr.Sensitive {
				c.report(diag.Diagnostic{Code: "F0271", Subject: a.span(), Context: v.Words(), Summary: fmt.Sprintf("Sensitive value in condition of %s", v.Words()),
					Detail: c.named(a.Expr) + "flowrun checks an answer where it is given, and sensitive values are not available there."})
			}
		}
	}
}

// approve checks what is known of an approval before the run.
func (c *checker) approve(b *Block) {
	say := func(a *Attr, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0326", Subject: a.span(), Context: b.Words(), Summary: summary, Detail: detail})
	}
	c.tells(b, "notify")
	approvers, named := b.constant("approvers").([]any)
	seen := map[string]bool{}
	for i, member := range approvers {
		name, text := member.(string)
		switch {
		case !text: // F0503 says so
			continue
		case name == "":
			say(b.attr("approvers"), fmt.Sprintf("Member %d of approvers is empty", i+1), "An approver is a name: the name given with the decision, or the user name on the machine.")
		case seen[name]:
			say(b.attr("approvers"), fmt.Sprintf("approvers names %.60q twice", name), "A person has one vote. Remove one of the two.")
		}
		seen[name] = true
	}
	for _, attr := range []string{"quorum", "rejections"} {
		if n, known := b.constant(attr).(float64); named && known && len(approvers) > 0 && int(n) > len(approvers) {
			say(b.attr(attr), fmt.Sprintf("%s is %g, and approvers are %d", attr, n, len(approvers)), "A person has one vote. Name more approvers, or ask for fewer votes.")
		}
	}
	if a := b.attr("default"); a != nil {
		if b.attr("timeout") == nil {
			say(a, "default without a timeout", "It is the decision at the timeout:  timeout = \"2d\".")
		}
		for _, in := range b.Blocks {
			if a.Text == "approve" && in.Schema.Kind == "input" && in.attr("default") == nil {
				say(a, fmt.Sprintf("An approval by default, and the input %q has no default", in.Name), "At the timeout no person enters the input. Give the input a default.")
			}
		}
	}
}

// constant is the value of an attribute that is known before the run; nil if it is not.
func (b *Block) constant(attr string) value.Value {
	if a := b.attr(attr); a != nil && a.known != nil {
		return a.known.Const
	}
	return nil
}

// approveOutput is what people have decided.
func approveOutput(_ *checker, _ *Workflow, n *Node) value.Type {
	inputs, decisions := map[string]value.Type{}, []string{"approved"}
	if n.Inner("approve").attr("revise") != nil {
		decisions = append(decisions, "revised")
	}
	for _, in := range n.Asked {
		inputs[in.Name] = in.read()
	}
	return value.Object(map[string]value.Type{
		"decision": {Kind: value.StringT, Enum: decisions}, "by": value.List(value.StringType), "comment": value.StringType,
		"at": value.StringType, "input": value.Object(inputs),
	})
}

// decided reads the decision of a person in a test.
func (c *testChecker) decided(b *Block, m *ir.Moment) {
	d := &ir.TestDecision{Word: b.Text("decision"), By: b.Text("by"), Comment: b.Text("comment")}
	if d.By == "" {
		d.By = "test"
	}
	m.Decision = d
	if b.Name == "" { // it was reported
		return
	}
	if b.Name == "." || strings.HasSuffix(b.Name, "/.") {
		c.decidedForRun(b, m)
		return
	}
	p, missing := c.findOne(b.Name)
	if missing != nil {
		c.missing(b, nameRange(b), missing, fmt.Sprintf("The program has no node %q", b.Name))
		return
	}
	m.Name = p.whole(b.Name)
	words := []string{}
	if p.node.Inner("approve") != nil {
		words = append(words, "approve", "reject")
		if p.node.Inner("approve").attr("revise") != nil {
			words = append(words, "revise")
		}
	}
	if slices.ContainsFunc(c.agentsOf(p.node), func(g *Block) bool { return g.Text("type") == "human" }) {
		words = append(words, "done", "fail")
	}
	if p.node.awaits() {
		words = append(words, "retry", "skip", "abort", "override", "ack")
	}
	words = append(words, p.node.budgetWords()...)
	switch {
	case len(words) == 0:
		c.asksNobody(b, p.node.Words())
		return
	case c.otherWord(b, p.node.Words(), words):
		return
	}
	if a := b.attr("output"); a != nil {
		d.Output, _ = c.constant(b, a)
	}
	c.decisions = append(c.decisions, &Decided{TestDecision: d, Header: b.Src.Header, Step: b.Name, Inputs: c.given(b, b.attr("input")), Workflow: p.in.Name, Node: p.node.Name})
	if a := b.attr("shown"); a != nil {
		if v, ok := c.constant(b, a); ok {
			n, _ := v.(float64)
			d.Shown = int(n)
		}
	}
}

// asksNobody reports a decision for something that asks nobody.
func (c *testChecker) asksNobody(b *Block, what string) {
	c.report(diag.Diagnostic{Code: "F0294", Subject: nameRange(b), Context: b.Words(), Summary: fmt.Sprintf("%s needs no decision", upper(what)),
		Detail: "A decide block answers a step with  approve { … },  the task of an agent of type human, a level with  await = \"decision\",  or a budget with  on_exceed = \"ask\"."})
}

// otherWord reports a decision with a word that is not waited for.
func (c *testChecker) otherWord(b *Block, what string, words []string) bool {
	word := b.Text("decision")
	if !contains(schema.DecisionWords, word) || contains(words, word) {
		return false
	}
	c.report(diag.Diagnostic{Code: "F0294", Subject: b.attr("decision").span(), Context: b.Words(), Summary: fmt.Sprintf("%s does not wait for %q", upper(what), word),
		Detail: fmt.Sprintf("It waits for %s.", quoted(words))})
	return true
}

// decidedForRun checks a decision for a run: "." is the only one of the test, LABEL/. one of several, CALL/. a called one.
func (c *testChecker) decidedForRun(b *Block, m *ir.Moment) {
	m.Name = b.Name
	path := strings.TrimSuffix(strings.TrimSuffix(b.Name, "."), "/")
	w := c.workflow
	if run := c.runs.named[path]; run != nil {
		w = run.workflow
	} else if path != "" {
		p, missing := c.findOne(path)
		if w = nil; missing == nil {
			m.Name, w, missing = p.whole(path)+"/.", c.called(p.node), &expr.NoName{Detail: "A dot after the path of a call means the called run."}
		}
		if w == nil {
			c.missing(b, nameRange(b), missing, fmt.Sprintf("%q calls no run", path))
			return
		}
	}
	words := w.budgetWords()
	if words == nil && c.runs.named[path] == nil && path != "" {
		words = c.askingAround()
	}
	if len(words) == 0 {
		c.asksNobody(b, w.Words())
		return
	}
	c.otherWord(b, w.Words(), words)
}

// budgetWords are the decisions that a budget of the block waits for.
func (b *Block) budgetWords() []string {
	if in := b.Inner("budget"); in != nil && in.Text("on_exceed") == "ask" {
		return []string{"continue", "stop"}
	}
	return nil
}

// askingAround are the decisions that a called run waits for if a budget of one of its callers asks.
func (c *testChecker) askingAround() (words []string) {
	for _, w := range c.program.Workflows {
		words = append(words, w.budgetWords()...)
		for _, n := range w.All {
			words = append(words, n.budgetWords()...)
		}
	}
	return words[:min(len(words), 2)]
}

// Decided is the decision of a person in a test, for a step of a workflow.
type Decided struct {
	*ir.TestDecision
	Header         diag.Range // of the block
	Step           string     // as the block names it
	Inputs         Given
	Workflow, Node string
}
