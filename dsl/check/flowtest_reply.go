package check

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// replier is what a stub stands for.
type replier struct {
	what   string   // in words
	takes  []string // the members that its replies can have besides error, takes, hang and lost
	output value.Type
}

var (
	programMembers = []string{"output", "stdout", "stderr", "exit_code"}
	anyMembers     = []string{"error", "takes", "hang", "lost"}
)

// agentReplier is what one of some agents answers: a reply can have what any of them gives.
func agentReplier(agents ...*Block) (r replier) {
	for i, g := range agents {
		kind := "an agent of type " + g.Text("type")
		if i > 0 && kind != r.what {
			kind = "an agent"
		}
		r.what = kind
		takes := append(slices.Clone(programMembers), "usage", "partial")
		switch g.Text("type") {
		case "http":
			takes = []string{"output", "status", "usage", "partial"}
		case "mcp":
			takes = programMembers[:1]
		case "acp", "a2a":
			takes = []string{"output", "usage", "partial"}
		case "null":
			takes = programMembers[:1]
		}
		for _, t := range takes {
			if !slices.Contains(r.takes, t) {
				r.takes = append(r.takes, t)
			}
		}
	}
	return r
}

// outputOf is the type of what an agent answers to the steps that can ask it in a test: one that all of them take.
func (c *testChecker) outputOf(g *Block) value.Type {
	var out *value.Type
	add := func(t value.Type) {
		if out != nil {
			t = c.work.Unify(*out, t)
		}
		out = &t
	}
	judge := func(gates []*Block) {
		for _, gate := range gates {
			if slices.Contains(c.judges(gate), g) {
				add(value.AnyType)
			}
		}
	}
	judge(c.program.Gates)
	for _, p := range c.places() {
		n := p.node
		judge(n.Gates)
		if n.Does != ir.AgentAction || !slices.Contains(c.agentsOf(n), g) {
			continue
		}
		if a := n.attr("output"); a != nil && a.Type != nil {
			add(*a.Type)
		} else {
			add(n.makes(g))
		}
	}
	if out == nil {
		return g.makes()
	}
	return *out
}

// stepReplier is what a stub of a step answers for; why says why there can be none.
func (c *testChecker) stepReplier(n *Node, undo bool) (r replier, why string) {
	if undo {
		if n.Inner("compensate") == nil {
			return r, "It has no compensation."
		}
		return replier{what: "a compensation", takes: programMembers[1:], output: value.AnyType}, ""
	}
	if n.Schema.Kind != "step" {
		return r, "A test runs the steps inside it, with their stubs."
	}
	output := c.made(c.workflow, n)
	if a := n.attr("output"); a != nil && a.Type != nil {
		output = *a.Type
	}
	switch n.Does {
	case ir.RunAction:
		return replier{what: "a program", takes: programMembers, output: output}, ""
	case ir.AgentAction:
		r = agentReplier(c.agentsOf(n)...)
		r.output = output
		return r, ""
	case ir.HTTPAction:
		return replier{what: "a request", takes: []string{"output", "status"}, output: value.AnyType}, ""
	case ir.RememberAction, ir.RecallAction:
		return replier{what: "a step of the memory", takes: programMembers[:1], output: output}, ""
	case ir.CallAction:
		return r, "A test runs the called workflow, with the stubs of its steps."
	case ir.ApproveAction:
		return r, fmt.Sprintf("In a test, a person decides with  decide %q { decision = \"approve\" }.", n.Name)
	case ir.KVAction, ir.EmitAction, ir.SyncAction, ir.NotifyAction, ir.HandoffAction, ir.ValueAction, ir.WaitAction, ir.FailAction, ir.EndAction:
		return r, fmt.Sprintf("Its action %s starts nothing, so a test does the same as a run.", n.Does)
	}
	return r, "The test answers it in the same way as a run."
}

// replies checks the replies of a stub.
func (c *testChecker) replies(b *Block, r replier) (out []ir.Reply) {
	a := b.attr("replies")
	if a == nil {
		return nil
	}
	list, ok := a.Src.Expr().(*hclsyntax.TupleConsExpr)
	if !ok || len(list.Exprs) == 0 {
		d := diag.Diagnostic{Code: "F0295", Subject: a.span(), Context: b.Words(), Summary: "replies must be a list of objects",
			Detail: "Each object is one reply; the last one is repeated:  replies = [{ exit_code = 1 }, { stdout = \"done\" }]."}
		if _, one := a.Src.Expr().(*hclsyntax.ObjectConsExpr); one {
			d.Summary, d.Detail = "A single reply needs brackets, too", "replies is a list of objects:  replies = [{ … }]."
		}
		c.report(d)
		return nil
	}
	for _, x := range list.Exprs {
		o, ok := x.(*hclsyntax.ObjectConsExpr)
		if !ok {
			c.report(diag.Diagnostic{Code: "F0295", Subject: expr.Range(x.Range()), Context: b.Words(), Summary: "A reply is an object",
				Detail: "A reply is an object such as  { output = { verdict = \"pass\" }, takes = \"30s\" }."})
			continue
		}
		if reply, ok := c.reply(b, a, o, r); ok {
			out = append(out, reply)
		}
	}
	return out
}

// reply checks one reply.
func (c *testChecker) reply(b *Block, a *Attr, o *hclsyntax.ObjectConsExpr, r replier) (out ir.Reply, ok bool) {
	out.At = placeOfRange(expr.Range(o.Range()))
	ok = true
	bad := func(d diag.Diagnostic) {
		ok = false
		d.Context = b.Words()
		if d.Code == "" {
			d.Code = "F0295"
		}
		c.report(d)
	}
	has := map[string]diag.Range{}
	for _, item := range o.Items {
		at := expr.Range(item.KeyExpr.Range())
		name, plain := envKeyText(item.KeyExpr)
		s := schema.ReplyMember(name)
		switch {
		case !plain || s == nil:
			bad(c.strayMember(name, at, r))
			continue
		case s.Later != nil:
			bad(notYet(at, fmt.Sprintf("%q of a reply", name), s.Later, ""))
			continue
		case !slices.Contains(r.takes, name) && !slices.Contains(anyMembers, name):
			bad(diag.Diagnostic{Subject: at, Summary: fmt.Sprintf("%s has no %s", upper(r.what), name),
				Detail: fmt.Sprintf("Its replies can have %s.", list(append(slices.Clone(r.takes), anyMembers...)))})
			continue
		case has[name] != diag.Range{}:
			bad(diag.Diagnostic{Subject: at, Summary: fmt.Sprintf("A reply has %s twice", name), Detail: "Only one of the two can be used. Remove one."})
			continue
		}
		has[name] = at
		member := &Attr{Schema: s, Src: a.Src.File.Member(name, at, item.ValueExpr)}
		if s.Kind == schema.Flag {
			c.in(b, c.fixed(b, member))
		} else {
			c.in(b, c.evaluate(member, c.requestEnv()))
		}
		keep(&out, member)
		if name == "output" && member.Expr != nil && !r.output.IsAny() {
			c.in(b, conformWhole(member.Expr, r.output, "output", member.span()))
		}
		if name == "error" && member.Expr != nil {
			c.in(b, replyError(member))
		}
	}
	if out.Hang && out.Lost {
		bad(diag.Diagnostic{Subject: has["lost"], Summary: "A reply hangs and is lost", Detail: "A reply that hangs never answers; a lost attempt falls silent after  takes. Choose one."})
	}
	for _, name := range []string{"output", "stdout", "stderr", "exit_code", "error", "status", "usage", "measured"} {
		at, given := has[name]
		switch {
		case given && (out.Hang || out.Lost):
			bad(diag.Diagnostic{Subject: at, Summary: fmt.Sprintf("%s has no effect in this reply", name), Detail: "It never answers, because of  hang  or  lost. Remove one of the two."})
		case given && out.Error != nil && out.Error.Kind == ir.Const && (name == "output" || name == "status" || name == "measured"):
			bad(diag.Diagnostic{Subject: at, Summary: fmt.Sprintf("A reply with both %s and error", name), Detail: "An attempt succeeds or fails. Make two replies, or remove one of the two."})
		}
	}
	if slices.Contains(r.takes, "measured") && out.Measured == nil && out.Error == nil && out.ExitCode == nil && !out.Hang && !out.Lost && ok {
		bad(diag.Diagnostic{Subject: expr.Range(o.Range()), Summary: "This reply has no measurements for the benchmark", Detail: "A test does not measure anything itself. Give one measurement for each sample:  measured = [1.5, 1.6]."})
	}
	if _, waits := has["takes"]; waits && out.Hang {
		bad(diag.Diagnostic{Subject: has["takes"], Summary: "takes has no effect in this reply", Detail: "It hangs, so it never answers. Remove one of the two."})
	}
	return out, ok
}

// keep keeps a member of a reply.
func keep(r *ir.Reply, a *Attr) {
	switch a.Schema.Name {
	case "hang":
		r.Hang = a.Flag
	case "lost":
		r.Lost = a.Flag
	default:
		*map[string]**ir.Expr{"output": &r.Output, "stdout": &r.Stdout, "stderr": &r.Stderr, "exit_code": &r.ExitCode, "error": &r.Error,
			"status": &r.Status, "partial": &r.Partial, "usage": &r.Usage, "measured": &r.Measured, "takes": &r.Takes}[a.Schema.Name] = a.Expr
	}
}

// strayMember reports a member that no reply has.
func (c *testChecker) strayMember(name string, at diag.Range, r replier) diag.Diagnostic {
	known := append(slices.Clone(r.takes), anyMembers...)
	d := diag.Diagnostic{Subject: at, Summary: fmt.Sprintf("A reply has no %q", name), Detail: fmt.Sprintf("It can have %s.", list(known))}
	if near := c.nearestOf(name, func() []string { return known }); near != "" {
		d.Detail = fmt.Sprintf("Did you mean %q?", near)
		d.Edit = &diag.Edit{Range: at, Text: near}
	}
	return d
}

// replyError checks the error of a reply.
func replyError(a *Attr) diag.List {
	if a.Expr.Kind == ir.Const {
		if _, stray := strayAttr(a.Expr.Const, schema.ReplyError); stray == nil {
			if _, err := value.Convert(a.Expr.Const, schema.ReplyError); err != nil {
				d := diag.Diagnostic{Code: "F0295", Subject: a.span(), Summary: "An impossible error in a reply",
					Detail: upper(err.Error()) + ". It is an object of kind, message, status and retry_after, all optional."}
				return diag.List{d}
			}
		}
	}
	return conformWhole(a.Expr, schema.ReplyError.OrNull(), "error", a.span())
}

// conformWhole is Conform that also refuses attributes of a constant that the type does not have: converting would lose them.
func conformWhole(e *ir.Expr, want value.Type, what string, at diag.Range) diag.List {
	if name, of := strayAttr(e.Const, want); e.Kind == ir.Const && name != "" {
		d := diag.Diagnostic{Code: "F0295", Subject: at, Summary: fmt.Sprintf("%s has no attribute %q", upper(what), name),
			Detail: fmt.Sprintf("It has %s.", someOrNone(of))}
		if near := diag.Nearest(name, of); near != "" {
			d.Detail = fmt.Sprintf("Did you mean %q?", near)
		}
		return diag.List{d}
	}
	if want.Kind == value.StringT && len(want.Enum) == 0 {
		return textual(e, what, at)
	}
	return expr.Conform(e, want, what, at)
}

// strayAttr finds the first attribute in a value that its object type does not have, and the names that the type has.
func strayAttr(v value.Value, t value.Type) (name string, of []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range value.Keys(v) {
			elem := t.Elem
			if t.Kind == value.ObjectT {
				a, known := t.Attrs[k]
				if !known {
					return k, t.Names()
				}
				elem = &a
			}
			if elem != nil {
				if name, of = strayAttr(v[k], *elem); name != "" {
					return name, of
				}
			}
		}
	case []any:
		for i, e := range v {
			elem := t.Elem
			if i < len(t.Elems) {
				elem = &t.Elems[i]
			}
			if elem != nil {
				if name, of = strayAttr(e, *elem); name != "" {
					return name, of
				}
			}
		}
	}
	return "", nil
}
