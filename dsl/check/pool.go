package check

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// pool checks the members of a pool.
func (c *checker) pool(b *Block) {
	a := b.attr("members")
	if a == nil {
		return
	}
	if list, ok := a.Src.Expr().(*hclsyntax.TupleConsExpr); ok && len(list.Exprs) == 0 {
		c.report(diag.Diagnostic{Code: "F0128", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("No members in %s", b.Words()),
			Detail: "A pool gives each task to one of its members. Name at least one:  members = [agent.NAME]."})
	}
	first := map[string]diag.Range{}
	known := a.Names[:0]
	for _, r := range a.Names {
		at, twice := first[r.Name]
		switch {
		case twice:
			c.report(diag.Diagnostic{Code: "F0129", Subject: r.Range, Context: b.Words(), Summary: fmt.Sprintf("Agent %q is twice in %s", r.Name, b.Words()),
				Detail: fmt.Sprintf("A member has one place in a pool. Remove one of the two. concurrency of agent %q says how many tasks it does at once.", r.Name),
				Notes:  []diag.Note{{Text: "the first one", Range: at}}})
		case c.agents[r.Name] == nil:
			c.unknownDeclared(b, r, "agent", c.agents)
		default:
			known = append(known, r)
		}
		first[r.Name] = r.Range
	}
	a.Names = known
}

// unknownDeclared reports a reference to what the program does not declare.
func (c *checker) unknownDeclared(b *Block, r expr.Name, kind string, declared map[string]*Block) {
	d := diag.Diagnostic{Code: "F0218", Subject: r.Range, Context: b.Words(), Summary: fmt.Sprintf("Unknown %s %q", kind, r.Name),
		Detail: fmt.Sprintf("The program declares no %s of this name.", kind)}
	if near := c.nearest(r.Name, declared); near != "" {
		d.Detail += fmt.Sprintf(" Did you mean %q?", near)
		d.Notes = []diag.Note{{Text: fmt.Sprintf("%q is declared here", near), Range: nameRange(declared[near])}}
		if r.Member == nil {
			d.Edit = &diag.Edit{Range: r.Range, Text: kind + "." + near}
		}
	}
	c.report(d)
}

// noPoolHere refuses a pool in place of an agent.
func noPoolHere(at diag.Range, attr string) diag.Diagnostic {
	d := diag.Diagnostic{Code: "F0132", Subject: at, Summary: fmt.Sprintf("%s cannot contain a pool", attr),
		Detail: "One agent is needed here. Write agent.NAME."}
	if attr == "members" {
		d.Summary = "A pool cannot be a member of a pool"
		d.Detail = "Members are agents. Name them one by one:  members = [agent.A, agent.B]."
	}
	return d
}

// membersOf lists the agents of a pool in the order of the circle.
func (c *checker) membersOf(pool *Block) (out []*Block) {
	if pool == nil || pool.attr("members") == nil {
		return nil
	}
	for _, r := range pool.attr("members").Names {
		if g := c.agents[r.Name]; g != nil {
			out = append(out, g)
		}
	}
	return out
}

// assigned lists the agents that a reference can give a task to, without a look at capabilities.
func (c *checker) assigned(r expr.Name) []*Block {
	if !r.Pool {
		if g := c.agents[r.Name]; g != nil {
			return []*Block{g}
		}
		return nil
	}
	all := c.membersOf(c.pools[r.Name])
	if name, ok := writtenMember(r); ok {
		i := slices.IndexFunc(all, func(g *Block) bool { return g.Name == name })
		if i < 0 {
			return nil
		}
		return all[i : i+1]
	}
	return all
}

// agentsOf lists the agents that can be given the task of a step, those of its own attribute first. A step of an agent has one at least
// where it has no error.
func (c *checker) agentsOf(n *Node) (out []*Block) {
	wanted := n.capabilities()
	for _, r := range c.allAssignees(n) {
		for _, g := range c.assigned(r) {
			if g.has(wanted) {
				out = append(out, g)
			}
		}
	}
	return out
}

// capabilities are those that a step asks for, or that an agent has.
func (b *Block) capabilities() []string {
	if a := b.attr("capabilities"); a != nil {
		return a.Strings
	}
	return nil
}

// has reports whether an agent has all of some capabilities.
func (b *Block) has(wanted []string) bool {
	own := b.capabilities()
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(own, w) })
}

// writtenMember is the member of a pool that a reference names literally.
func writtenMember(r expr.Name) (string, bool) {
	l, ok := r.Member.(*hclsyntax.LiteralValueExpr)
	if !ok || l.Val.Type() != cty.String || l.Val.IsNull() {
		return "", false
	}
	return l.Val.AsString(), true
}

// Member returns what gives the member of the pool that the i-th of Names refers to: an expression, or a name that is written out. Both
// are zero where the strategy of the pool chooses, and for an agent.
func (a *Attr) Member(i int) (e *ir.Expr, known string) {
	if name, ok := writtenMember(a.Names[i]); ok {
		return nil, name
	}
	if i < len(a.picks) {
		return a.picks[i], ""
	}
	return nil, ""
}

// members checks the expressions that name members of pools.
func (c *checker) members(a *Attr, env *expr.Env) (list diag.List) {
	a.picks = nil
	for i, r := range a.Names {
		if r.Member == nil {
			continue
		}
		if a.picks == nil {
			a.picks = make([]*ir.Expr, len(a.Names))
		}
		at := expr.Range(r.Member.Range())
		e, known, found := expr.Known(r.Member, a.Src.File.Src, env)
		if list = append(list, found...); e == nil {
			continue
		}
		if found = expr.Conform(e, value.StringType, fmt.Sprintf("the name of a member of pool %q", r.Name), at); found != nil {
			list = append(list, found...)
			continue
		}
		if e.Type.Nullable {
			list = append(list, diag.Diagnostic{Code: "F0307", Subject: at, Summary: fmt.Sprintf("The name of a member of pool %q may be null", r.Name),
				Detail: fmt.Sprintf("Give a name for that case:  pool.%s[coalesce(%s, \"NAME\")].", r.Name, a.Src.File.Src[at.Start.Byte:at.End.Byte])})
			continue
		}
		a.picks[i] = e
		if name, is := "", false; known != nil {
			if name, is = known.Const.(string); is {
				list = append(list, c.member(r, name, at)...)
			}
		}
	}
	return list
}

// member checks that a pool has the member of a name that is known from the file.
func (c *checker) member(r expr.Name, name string, at diag.Range) diag.List {
	all := c.membersOf(c.pools[r.Name])
	var names []string
	for _, g := range all {
		if g.Name == name {
			return nil
		}
		names = append(names, g.Name)
	}
	d := diag.Diagnostic{Code: "F0130", Subject: at, Summary: fmt.Sprintf("Pool %q has no member %q", r.Name, name),
		Detail: fmt.Sprintf("It has %s.", someOrNone(names))}
	if near := diag.Nearest(name, names); near != "" {
		d.Detail += fmt.Sprintf(" Did you mean %q?", near)
	}
	return diag.List{d}
}

// able checks that for each of those that a step names there is an agent with the capabilities that the step asks for.
func (c *checker) able(n *Node) {
	wanted := n.capabilities()
	asks := n.attr("capabilities")
	if asks == nil {
		return
	}
	if c.noCapabilities(n.Block, asks) {
		return
	}
	for i, w := range wanted {
		if slices.ContainsFunc(c.program.Agents, func(g *Block) bool { return g.has([]string{w}) }) {
			continue
		}
		d := diag.Diagnostic{Code: "F0131", Subject: asks.memberAt(i), Context: n.Words(), Summary: fmt.Sprintf("No agent has the capability %q", w),
			Detail: fmt.Sprintf("The step could never start. Add the capability to an agent:  capabilities = [%q].", w)}
		var known []string
		for _, g := range c.program.Agents {
			known = append(known, g.capabilities()...)
		}
		if near := diag.Nearest(w, known); near != "" {
			d.Detail = fmt.Sprintf("The step could never start. Did you mean %q?", near)
			d.Edit = &diag.Edit{Range: asks.memberAt(i), Text: fmt.Sprintf("%q", near)}
		}
		c.report(d)
		return
	}
	for _, r := range n.assignees() {
		all := c.assigned(r)
		if len(all) == 0 || slices.ContainsFunc(all, func(g *Block) bool { return g.has(wanted) }) {
			continue
		}
		d := diag.Diagnostic{Code: "F0131", Subject: r.Range, Context: n.Words(), Summary: fmt.Sprintf("Agent %q does not have the capabilities of the step", all[0].Name),
			Detail: fmt.Sprintf("The step asks for %s, and the agent has %s. Name another agent, or add to its capabilities.", quoted(wanted), quotedOrNone(all[0].capabilities())),
			Notes:  []diag.Note{{Text: fmt.Sprintf("%q is declared here", all[0].Name), Range: nameRange(all[0])}}}
		if _, written := writtenMember(r); r.Pool && !written {
			d.Summary = fmt.Sprintf("No member of pool %q has the capabilities of the step", r.Name)
			d.Detail = fmt.Sprintf("The step asks for %s, and no member has all of them. Name another pool, or add to the capabilities of a member.", quoted(wanted))
			d.Notes = []diag.Note{{Text: fmt.Sprintf("%q is declared here", r.Name), Range: nameRange(c.pools[r.Name])}}
		}
		c.report(d)
	}
}

// noCapabilities reports a capability that is empty or stands twice.
func (c *checker) noCapabilities(b *Block, a *Attr) (found bool) {
	for i, s := range a.Strings {
		d := diag.Diagnostic{Code: "F0133", Subject: a.memberAt(i), Context: b.Words()}
		switch {
		case s == "":
			d.Summary, d.Detail = "A capability is empty", "A capability is a word of your own, such as \"gpu\"."
		case slices.Contains(a.Strings[:i], s):
			d.Summary, d.Detail = fmt.Sprintf("Capability %q is named twice", s), "Remove one of the two."
		default:
			continue
		}
		c.report(d)
		found = true
	}
	return found
}

func quotedOrNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return quoted(words)
}
