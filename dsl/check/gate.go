package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
)

// judgedBy are the attributes by which a gate can judge.
var judgedBy = []string{"check", "run", "schema"}

// gate checks that a gate judges by one thing, and that what stands beside it belongs to it.
func (c *checker) gate(b *Block) {
	var found []string
	for _, name := range judgedBy {
		if b.Src.Body.Attr(name) != nil {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		c.report(diag.Diagnostic{Code: "F0121", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Nothing to judge by in %s", b.Words()),
			Detail: "A gate has one of  check = \"CONDITION over result\",  run = [\"PROGRAM\"]  and  schema = { JSON Schema }."})
		return
	case 1:
	default:
		c.report(diag.Diagnostic{Code: "F0122", Subject: b.Src.Body.Attr(found[1]).Range, Context: b.Words(), Summary: fmt.Sprintf("Both %s in %s", list(found), b.Words()),
			Detail: "A gate judges by one thing. Make several gates of it.", Notes: []diag.Note{{Text: found[0] + " stands here", Range: b.Src.Body.Attr(found[0]).Range}}})
		return
	}
	if found[0] == "run" {
		return
	}
	for _, name := range []string{"dir", "env", "shell", "timeout", "pass_env"} {
		if a := b.attr(name); a != nil {
			c.report(diag.Diagnostic{Code: "F0123", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("%s has no effect on a gate with %s", name, found[0]),
				Detail: fmt.Sprintf("It belongs to gates with run: %s starts no program.", found[0])})
		}
	}
}

// schema checks a JSON Schema that is known from the file.
func (c *checker) schema(b *Block) {
	a := b.attr("schema")
	if a == nil {
		return
	}
	v, fixed := expr.Fixed(a.Expr, c.texts(), &c.work)
	if !fixed {
		return
	}
	if _, err := expr.CompileSchema(v); err != nil {
		d := diag.Diagnostic{Code: "F0287", Subject: a.span(), Context: b.Words(), Summary: "This is no JSON Schema",
			Detail: upper(err.Error()) + ". Schemas are of draft 2020-12 unless $schema names another one."}
		if _, text := v.(string); text {
			d.Summary = "This text is no JSON Schema"
			d.Detail += " It can also be written as a value:  schema = { type = \"object\" }."
		}
		c.report(d)
	}
}

// retries tells whether a gate of the step, or of a group around it, can ask for better work, so that there is feedback.
func (c *checker) retries(n *Node) bool {
	if n.asks == nil {
		asks := c.asksAgain(n)
		for p := n.Parent; p != nil && !asks; p = p.Parent {
			asks = c.asksAgain(p)
		}
		n.asks = &asks
	}
	return *n.asks
}

func (c *checker) asksAgain(n *Node) bool {
	for _, g := range n.Gates {
		if g.Text("on_fail") == "retry" {
			return true
		}
	}
	if a := n.attr("gates"); a != nil {
		for _, r := range a.Names {
			if g := c.gates[r.Name]; g != nil && g.Text("on_fail") == "retry" {
				return true
			}
		}
	}
	return false
}
