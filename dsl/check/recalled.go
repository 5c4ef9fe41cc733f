package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// What steps of the memory make, and what was recalled into an attempt. A memory that cannot be had leaves an id null.
var (
	texts          = value.List(value.StringType)
	rememberedType = value.Object(map[string]value.Type{"id": value.StringType.OrNull(), "known": value.BoolType})
	foundType      = value.Object(map[string]value.Type{"count": value.IntType, "text": value.StringType, "items": value.List(foundItem)})
	foundItem      = value.Object(map[string]value.Type{
		"id": value.StringType, "type": value.StringType, "agent": value.StringType, "text": value.StringType, "lesson": value.StringType,
		"tags": texts, "created_at": value.StringType, "score": value.NumberType,
	})
	recalledType = value.Object(map[string]value.Type{"count": value.IntType, "ids": texts, "items": value.List(recalledItem)})
	recalledItem = value.Object(map[string]value.Type{"id": value.StringType, "type": value.StringType, "tags": texts, "score": value.NumberType})
)

// RecalledType is the type of recalled, for documentation.
func RecalledType() value.Type { return recalledType }

// recallsNothing warns of a node that asks what was recalled into it where that is nothing, always: in a block of its own, or
// in a gate at the top that it names, which may well make sense for other steps.
func (c *checker) recallsNothing(n *Node) {
	if c.toldByMemory(n) {
		return
	}
	for _, b := range append([]*Block{n.Block}, n.Blocks...) {
		if b != n.Block && isNode(b) {
			continue
		}
		if a := readsRecalled(b); a != nil {
			c.report(nothingRecalled(n, b, a.span()))
		}
	}
	gates := n.attr("gates")
	if gates == nil {
		return
	}
	for _, r := range gates.Names {
		g := c.gates[r.Name]
		if g == nil {
			continue
		}
		if a := readsRecalled(g); a != nil {
			d := nothingRecalled(n, n.Block, r.Range)
			d.Notes = []diag.Note{{Text: g.Words() + " asks for it here", Range: a.span()}}
			c.report(d)
		}
	}
}

func nothingRecalled(n *Node, in *Block, at diag.Range) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: "F0292", Subject: at, Context: in.Words(), Summary: fmt.Sprintf("Nothing is ever recalled into %s", n.Words()),
		Detail: "Only an agent with a memory recalls learnings. The memory block at the top of the file gives a memory to all agents except those of type null; a memory block in an agent gives it to that agent, unless it has  recall = false."}
}

// readsRecalled is the first attribute of a block that reads what was recalled, or nil.
func readsRecalled(b *Block) (found *Attr) {
	walk(b, func(a *Attr, e *ir.Expr) {
		if found == nil && slices.ContainsFunc(e.Reads, func(r ir.Ref) bool { return r.Root == "recalled" }) {
			found = a
		}
	})
	return found
}

// toldByMemory reports whether one of the agents that may have the task of a step is told what was learned.
func (c *checker) toldByMemory(n *Node) bool {
	return slices.ContainsFunc(c.agentsOf(n), c.hasMemory)
}

// hasMemory tells whether an agent is told what was learned.
func (c *checker) hasMemory(g *Block) bool {
	own := g.Inner("memory")
	if own == nil && c.program.Memory == nil || g.Text("type") == "null" {
		return false
	}
	if own != nil {
		if a := own.attr("recall"); a != nil {
			return a.Flag
		}
	}
	return true
}
