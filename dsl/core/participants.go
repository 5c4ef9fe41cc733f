package core

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// MaxParticipants bounds the agents of one pattern: each of them becomes a step.
const MaxParticipants = 100

// participant is one of several agents that are given the same task.
type participant struct {
	agent string
	at    diag.Range // where the pattern names it, or the pool that it is a member of
	step  string     // the node that asks it
}

// participants lists the agents that an attribute names, with all members of a pool in its place, and enters a node for each.
func (p *pattern) participants(attr, shown, alias string) (out []participant) {
	a := p.Attrs[attr]
	first := map[string]diag.Range{}
	add := func(agent string, at diag.Range, from string) {
		if other, there := first[agent]; there {
			p.report(diag.Diagnostic{Code: "F0344", Subject: at, Context: p.Words(), Summary: fmt.Sprintf("%[2]s names agent %[1]q twice", agent, attr),
				Detail: "Each agent takes part once" + from + ". Remove one of the two.", Notes: []diag.Note{{Text: "the first one", Range: other}}})
			return
		}
		first[agent] = at
		out = append(out, participant{agent: agent, at: at})
	}
	for _, r := range a.Names {
		switch {
		case !r.Pool:
			add(r.Name, r.Range, "")
		case r.Member != nil:
			p.report(diag.Diagnostic{Code: "F0317", Subject: r.Range, Context: p.Words(), Summary: fmt.Sprintf("%s cannot contain a member of a pool", attr),
				Detail: fmt.Sprintf("The participants must be literals. Write agent.NAME, or pool.%s for all members of the pool.", r.Name)})
		default:
			members := p.declared.members(r.Name)
			if len(members) == 0 { // unknown or empty: the check says so of the reference
				out = append(out, participant{agent: r.Name, at: r.Range})
			}
			for _, m := range members {
				add(m, r.Range, fmt.Sprintf(", and pool.%s means all its members", r.Name))
			}
		}
	}
	switch {
	case len(a.Names) == 0 && !p.failed:
		p.report(diag.Diagnostic{Code: "F0345", Subject: a.Src.Range, Context: p.Words(), Summary: fmt.Sprintf("%s is empty", attr),
			Detail: fmt.Sprintf("Name the agents that take part:  %s = [agent.A, agent.B], or a pool, which means all its members.", attr)})
	case len(out) > MaxParticipants:
		p.report(diag.Diagnostic{Code: "F0345", Subject: a.Src.Range, Context: p.Words(), Summary: fmt.Sprintf("%[2]s names %[1]d agents", len(out), attr),
			Detail: fmt.Sprintf("The limit is %d. For more agents, use a step with for_each.", MaxParticipants)})
	}
	for i := range out {
		if p.failed {
			break
		}
		out[i].step = p.node(out[i].agent, fmt.Sprintf(shown, out[i].agent), alias)
	}
	return out
}

// reference writes who does a step: the reference of the author, or a member of the pool that it names.
func (p *pattern) reference(one participant) {
	p.anchor(one.at)
	p.say("agent = ")
	text := string(p.file.Src[one.at.Start.Byte:one.at.End.Byte])
	if text == "agent."+one.agent || p.declared.block("agent", one.agent) == nil {
		p.copy(one.at.Start.Byte, one.at.End.Byte)
	} else {
		p.say("agent.%s", one.agent)
	}
	p.say("\n")
	p.anchor(p.Src.Header)
}

// members lists the agents of a pool; none of a pool that is not declared.
func (d *declarations) members(pool string) (out []string) {
	b := d.block("pool", pool)
	if b == nil {
		return nil
	}
	d.used[b.Labels[0].Range] = true
	for _, a := range b.Body.Attrs {
		if a.Name == "members" {
			names, _ := expr.StaticList(a.Expr(), "agent")
			for _, n := range names {
				out = append(out, n.Name)
			}
		}
	}
	return out
}

// output is the type of what an agent answers: the declared one, text where its type or its output_format says so, else any.
func (d *declarations) output(agent string) value.Type {
	b := d.block("agent", agent)
	if b == nil {
		return value.AnyType
	}
	if a := b.Body.Attr("output"); a != nil {
		if t, _ := expr.Type(a.Expr()); t.Kind != "" {
			return t
		}
	}
	switch kind := agentWord(b, "type"); {
	case kind == "acp", kind == "chat", kind != "null" && agentWord(b, "output_format") == "text":
		return value.StringType
	}
	return value.AnyType
}

// agentWord is a literal text in an agent, or in its preset; "" where there is none.
func agentWord(agent *syntax.Block, name string) string {
	if a := agent.Body.Attr(name); a != nil {
		return plainText(a)
	}
	if a := agent.Body.Attr("preset"); a != nil {
		if text, found := readPreset(plainText(a)); found {
			f, _ := lenient.Parse("preset", []byte(text))
			if a := f.Body.Blocks[0].Body.Attr(name); a != nil {
				return plainText(a)
			}
		}
	}
	return ""
}

// limited reports whether attempts of an agent have a time limit of their own.
func (d *declarations) limited(agent string) bool {
	b := d.block("agent", agent)
	return b != nil && b.Body.Attr("timeout") != nil
}

// key writes the name of an agent as the key of an object.
func key(agent string) string {
	if hclsyntax.ValidIdentifier(agent) {
		return agent
	}
	return fmt.Sprintf("%q", agent)
}

// sharedOutput is the type of what some agents answer, if it is one; else any.
func (d *declarations) sharedOutput(agents []string) value.Type {
	var out value.Type
	for i, name := range agents {
		t := d.output(name)
		if i > 0 && t.String() != out.String() {
			return value.AnyType
		}
		out = t
	}
	if out.Kind == "" {
		return value.AnyType
	}
	return out
}

// assigned lists the agents that an attribute with one reference can give a task to.
func (d *declarations) assigned(a *check.Attr) (out []string) {
	for _, r := range a.Names {
		if r.Pool {
			out = append(out, d.members(r.Name)...)
		} else {
			out = append(out, r.Name)
		}
	}
	return out
}
