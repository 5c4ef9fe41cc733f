package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
)

// judgedBy are the attributes and blocks by which a gate can judge.
var judgedBy = []string{"check", "run", "schema", "review", "security", "benchmark"}

// judgesBy is the place of what a gate judges by; nil if it does not have it.
func judgesBy(b *Block, name string) *diag.Range {
	if a := b.Src.Body.Attr(name); a != nil {
		return &a.Range
	}
	if in := b.Inner(name); in != nil {
		return &in.Src.Header
	}
	return nil
}

// gate checks that a gate judges by one thing, and that what stands beside it belongs to it.
func (c *checker) gate(b *Block) {
	var found []string
	for _, name := range judgedBy {
		if judgesBy(b, name) != nil {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		c.report(diag.Diagnostic{Code: "F0121", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("%s has no way to judge", b.Words()),
			Detail: "A gate has one of  check = \"CONDITION over result\",  run = [\"PROGRAM\"],  schema = { JSON Schema },  review { agent = agent.NAME },  security { scan = [\"secrets\"] }  and  benchmark { run = [\"PROGRAM\"] }."})
		return
	case 1:
	default:
		c.report(diag.Diagnostic{Code: "F0122", Subject: *judgesBy(b, found[1]), Context: b.Words(), Summary: fmt.Sprintf("Both %s in %s", list(found), b.Words()),
			Detail: "A gate judges in one way. Split it into several gates.", Notes: []diag.Note{{Text: found[0] + " is here", Range: *judgesBy(b, found[0])}}})
		return
	}
	if r := b.Inner("review"); r != nil {
		c.reviewer(r)
	}
	if s := b.Inner("security"); s != nil {
		c.scans(s)
	}
	if m := b.Inner("benchmark"); m != nil {
		c.benchmark(m)
	}
	if a := b.attr("block"); a != nil && b.attr("findings") == nil {
		c.report(diag.Diagnostic{Code: "F0123", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("block has no effect on a gate with %s", found[0]),
			Detail: "It is the severity of findings that do not pass. Add  findings = \"sarif\"  or  \"json\"; the blocks review and security have their own attribute block."})
	}
	if found[0] == "run" || found[0] == "benchmark" && b.attr("findings") == nil {
		return
	}
	for _, name := range []string{"dir", "env", "shell", "timeout", "pass_env", "findings"} {
		if a := b.attr(name); a != nil && (name != "timeout" || found[0] != "review") {
			c.report(diag.Diagnostic{Code: "F0123", Subject: a.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("%s has no effect on a gate with %s", name, found[0]),
				Detail: fmt.Sprintf("It belongs to gates with run: %s starts no program.", found[0])})
		}
	}
}

// reviewer checks who judges.
func (c *checker) reviewer(b *Block) {
	a := b.attr("agent")
	if a == nil || len(a.Names) == 0 || a.ref().Name == "" {
		return
	}
	declared, kind := c.agents, "agent"
	if a.ref().Pool {
		declared, kind = c.pools, "pool"
	}
	judge := declared[a.ref().Name]
	if judge == nil {
		c.unknownDeclared(b, a.ref(), kind, declared)
		a.Names = nil
		return
	}
	if a.Names[0].Member != nil {
		c.report(diag.Diagnostic{Code: "F0152", Subject: a.Src.Range, Context: b.Words(), Summary: "A judge must be a literal",
			Detail: "Name a pool, whose members judge in turn:  agent = pool.NAME, or an agent:  agent = agent.NAME."})
	}
}

// scans checks the names of scans.
func (c *checker) scans(b *Block) {
	a := b.attr("scan")
	if a == nil {
		return
	}
	for _, s := range a.Strings {
		if slices.Contains(ir.Scans, ir.Scan(s)) {
			continue
		}
		d := diag.Diagnostic{Code: "F0151", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("Unknown scan %q", s),
			Detail: "Scans are " + strings.Join(ir.Texts(ir.Scans), " and ") + "."}
		if near := diag.Nearest(s, ir.Texts(ir.Scans)); near != "" {
			d.Detail += fmt.Sprintf(" Did you mean %q?", near)
		} else {
			d.Detail += " A scanner of code is a gate with  run = [\"PROGRAM\"]  and  findings = \"sarif\"."
		}
		c.report(d)
	}
	if len(a.Strings) == 0 {
		c.report(diag.Diagnostic{Code: "F0121", Subject: a.span(), Context: b.Words(), Summary: "Nothing to scan for",
			Detail: "Scans are " + strings.Join(ir.Texts(ir.Scans), " and ") + "."})
	}
}

// selfJudged warns of a step whose own agent judges its work.
func (c *checker) selfJudged(n *Node, g *Block) {
	r, who := g.Inner("review"), n.attr("agent")
	if r == nil || who == nil || r.attr("agent") == nil || len(r.attr("agent").Names) == 0 {
		return
	}
	judge := r.attr("agent").ref()
	for i, name := range who.Names {
		if _, member := who.Member(i); !judge.Pool && (!name.Pool && name.Name == judge.Name || member == judge.Name) {
			c.report(diag.Diagnostic{Code: "F0153", Severity: diag.Warning, Subject: judge.Range, Context: n.Words(), Summary: fmt.Sprintf("Agent %q judges its own work", judge.Name),
				Detail: "An agent overlooks its own mistakes. Let another agent judge.",
				Notes:  []diag.Note{{Text: "the agent of " + n.Words(), Range: name.Range}}})
		}
	}
}

// judgesOf lists who judges for the gates of a node.
func (c *checker) judgesOf(n *Node) (out []expr.Name) {
	judge := func(g *Block) {
		if r := g.Inner("review"); r != nil && r.attr("agent") != nil {
			out = append(out, r.attr("agent").Names...)
		}
	}
	for _, g := range n.Gates {
		judge(g)
	}
	if a := n.attr("gates"); a != nil {
		for _, r := range a.Names {
			if g := c.gates[r.Name]; g != nil && n.ownGate(r.Name) == nil {
				judge(g)
			}
		}
	}
	return out
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
		d := diag.Diagnostic{Code: "F0287", Subject: a.span(), Context: b.Words(), Summary: "This is not JSON Schema",
			Detail: upper(err.Error()) + ". Schemas are of draft 2020-12 unless $schema names another one."}
		if _, text := v.(string); text {
			d.Summary = "This text is not JSON Schema"
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
