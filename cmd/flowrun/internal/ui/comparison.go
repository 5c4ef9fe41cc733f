package ui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/view"
)

// Comparison writes what two runs differ in.
func Comparison(t *Term, c *view.Comparison) {
	for _, side := range []*view.RunSide{&c.A, &c.B} {
		t.Printf("%s  %s  %s  %s\n", side.Run, Clean(side.Workflow), side.Status, timeOf(side.Seconds))
	}
	if len(c.Inputs) > 0 {
		t.Printf("\ninputs differ: %s\n", Clean(strings.Join(c.Inputs, ", ")))
	}
	if !c.Definition.Same {
		t.Printf("\ndefinition\n")
		for _, x := range append(c.Definition.Declarations, c.Definition.Nodes...) {
			t.Printf("  %s\n", Clean(ChangeWords(x)))
		}
	}
	if len(c.Nodes) > 0 {
		t.Printf("\nnodes\n")
	}
	for i := range c.Nodes {
		t.Printf("  %s\n", Clean(pairWords(&c.Nodes[i])))
	}
	verb, others := "differ", "do"
	if differing(c.Nodes) == 1 {
		verb = "differs"
	}
	if c.Alike == 1 {
		others = "does"
	}
	t.Printf("\n%s %s, %d %s not\n", countOf(differing(c.Nodes), "node", "nodes"), verb, c.Alike, others)
}

func differing(nodes []view.NodePair) (n int) {
	for i := range nodes {
		if len(nodes[i].Differs) > 0 {
			n++
		}
	}
	return n
}

// ChangeWords says how a node or a declaration of a program has changed.
func ChangeWords(c ir.Change) string {
	name := c.Name
	if name == "" {
		name = "the workflow"
	}
	if c.From != "" {
		return fmt.Sprintf("%s renamed from %s", name, c.From)
	}
	if len(c.Parts) > 0 {
		parts := make([]string, len(c.Parts))
		for i, p := range c.Parts {
			parts[i] = partWords(p, c.Values)
		}
		return fmt.Sprintf("%s %s: %s", name, c.What, strings.Join(parts, ", "))
	}
	return name + " " + c.What
}

// partWords is a part that differs with its values, if they are known: those of its members where members differ.
func partWords(part string, values []ir.ValueChange) string {
	var list []string
	for _, v := range values {
		if v.Part != part && !strings.HasPrefix(v.Part, part+".") {
			continue
		}
		path := strings.Split(v.Part, ".")
		path[0] = cmp.Or(attributes[path[0]], path[0])
		name := strings.Join(path, ".")
		name = cmp.Or(members[name], name)
		if v.Before == v.After { // neither is shown
			list = append(list, name+" "+v.After)
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s → %s)", name, cmp.Or(v.Before, "none"), cmp.Or(v.After, "none")))
	}
	if list == nil {
		return cmp.Or(attributes[part], part)
	}
	return strings.Join(list, ", ")
}

// members are the words of files for members that have another name in a program.
var members = map[string]string{"run.argv": "run", "run.script": "run", "run.parse": "parse", "run.shell": "shell", "run.stdin": "stdin", "agent.agent": "agent", "agent.pool": "agent",
	"agent.task": "task", "agent.with": "with", "agent.capabilities": "capabilities"}

// attributes are the words of files for parts of nodes that have another name in a program.
var attributes = map[string]string{"needs": "depends_on", "quotas": "quota", "result": "value"}

// pairWords is a node of two runs in a line: what differs, from A to B.
func pairWords(p *view.NodePair) string {
	switch {
	case p.A == nil:
		return fmt.Sprintf("%s  only in B: %s", p.ID, p.B.Status)
	case p.B == nil:
		return fmt.Sprintf("%s  only in A: %s", p.ID, p.A.Status)
	}
	parts := []string{}
	for _, what := range p.Differs {
		switch what {
		case view.DiffersStatus:
			parts = append(parts, fmt.Sprintf("%s → %s", p.A.Status, p.B.Status))
		case view.DiffersDuration:
			parts = append(parts, fmt.Sprintf("%s → %s", timeOf(p.A.Seconds), timeOf(p.B.Seconds)))
		case view.DiffersAttempts:
			parts = append(parts, fmt.Sprintf("%d → %s", p.A.Attempts, Count(p.B.Attempts, "attempt")))
		default:
			parts = append(parts, string(what)+" differs")
		}
	}
	if len(parts) == 0 {
		parts = append(parts, string(p.B.Status))
	}
	return p.ID + "  " + strings.Join(parts, ", ")
}
