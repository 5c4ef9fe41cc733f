package lower

import (
	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// actions makes the action of a step, by its kind. from is what the step inherits.
var actions = map[ir.ActionKind]func(n *check.Node, from inherited) ir.Action{
	ir.RunAction:   lowerRun,
	ir.AgentAction: lowerAgentTask,
	ir.ValueAction: func(n *check.Node, _ inherited) ir.Action { return &ir.Value{Expr: *n.Expr("value")} },
	ir.CallAction:  lowerCall,
	ir.HTTPAction: inBlock(func(b *check.Block) ir.Action {
		return &ir.HTTP{URL: *b.Expr("url"), Method: b.Expr("method"), Headers: b.Expr("headers"), Query: b.Expr("query"), Body: b.Expr("body"),
			Expect: b.Expr("expect"), Follow: b.Expr("follow"), MaxBody: b.Expr("max_bytes")}
	}),
	ir.RememberAction: inBlock(func(b *check.Block) ir.Action { return remember(b) }),
	ir.RecallAction:   inBlock(func(b *check.Block) ir.Action { return recall(b) }),
	ir.KVAction: inBlock(func(b *check.Block) ir.Action {
		operation, key := b.KVOperation()
		return &ir.KV{Operation: operation, Key: *key.Expr, Value: b.Expr("value"), By: b.Expr("by"), Old: b.Expr("old"), TTL: b.Expr("ttl"),
			Limit: b.Expr("limit"), Namespace: b.Expr("namespace")}
	}),
	ir.EmitAction: inBlock(func(b *check.Block) ir.Action {
		return &ir.Emit{Event: b.Text("event"), Data: b.Expr("data"), Key: b.Expr("key"), Run: b.Expr("run")}
	}),
	ir.SyncAction: inBlock(func(b *check.Block) ir.Action {
		return &ir.Sync{Point: *b.Expr("point"), As: *b.Expr("as"), Needs: *b.Expr("needs"), Ready: b.Expr("ready"), Reason: b.Expr("reason"), Timeout: b.Expr("timeout")}
	}),
	ir.NotifyAction: inBlock(func(b *check.Block) ir.Action {
		return &ir.Notify{To: names(b.Attrs["to"]), Text: *b.Expr("text"), Title: b.Expr("title"), Level: b.Expr("level"), Data: b.Expr("data")}
	}),
	ir.HandoffAction: inBlock(func(b *check.Block) ir.Action {
		to, anyone, members := handoffTo(b.Attrs["to"])
		return &ir.Handoff{To: to, Anyone: anyone, Members: members, Summary: *b.Expr("summary"), Next: *b.Expr("next"), Ticket: b.Expr("ticket"), FilesChanged: b.Expr("files_changed"),
			Decisions: b.Expr("decisions"), OpenQuestions: b.Expr("open_questions"), Acceptance: b.Expr("acceptance"), Blockers: b.Expr("blockers"),
			Artifacts: b.Expr("artifacts"), Priority: b.Expr("priority"), Notify: names(b.Attrs["notify"])}
	}),
	ir.WaitAction: inBlock(func(b *check.Block) ir.Action {
		w := &ir.Wait{Event: b.Text("event"), Match: b.Expr("match"), Timeout: b.Expr("timeout"), Duration: b.Expr("duration"), At: b.Expr("at")}
		if a := b.Attrs["data"]; a != nil {
			w.Data = a.Type
		}
		return w
	}),
	ir.ApproveAction: func(n *check.Node, _ inherited) ir.Action {
		b := n.Inner("approve")
		a := &ir.Approve{Prompt: *b.Expr("prompt"), Show: b.Expr("show"), Approvers: b.Expr("approvers"), Quorum: b.Expr("quorum"),
			Rejections: b.Expr("rejections"), Timeout: b.Expr("timeout"), Default: ir.Verdict(b.Text("default")), Notify: names(b.Attrs["notify"])}
		if r := b.Attrs["revise"]; r != nil {
			a.Revise, a.Revisions = r.Names[0].Name, b.Expr("max_revisions")
		}
		for _, in := range n.Asked {
			a.Inputs = append(a.Inputs, variable(in))
		}
		return a
	},
	ir.FailAction: inBlock(func(b *check.Block) ir.Action {
		f := &ir.Fail{Message: b.Expr("message"), ErrorKind: ir.ErrorKind(b.Text("kind"))}
		if r := b.Text("reason"); r != "fail" {
			f.Reason = r
		}
		if a := b.Attrs["group"]; a != nil {
			f.Group = a.Flag
		}
		return f
	}),
	ir.EndAction: inBlock(func(b *check.Block) ir.Action {
		return &ir.End{Status: ir.EndStatus(b.Text("status")), Message: b.Expr("message")}
	}),
}

// inBlock lowers an action that is a block of its step.
func inBlock(lower func(b *check.Block) ir.Action) func(*check.Node, inherited) ir.Action {
	return func(n *check.Node, _ inherited) ir.Action { return lower(n.Inner(string(n.Does))) }
}

// action makes the action that check found in a step.
func action(n *check.Node, from inherited) ir.Action {
	lower := actions[n.Does]
	if lower == nil {
		panic("lower: step " + n.Name + " has the action " + string(n.Does) + ", which is not lowered") // a test lists them
	}
	return lower(n, from)
}

func lowerRun(n *check.Node, from inherited) ir.Action {
	out := run(n.Attrs["run"], from.shell, n.Text("parse"))
	out.Stdin, out.OutputFile = n.Expr("stdin"), n.WritesOutput()
	return out
}

func lowerAgentTask(n *check.Node, _ inherited) ir.Action {
	a := n.Attrs["agent"]
	who := assignees(a)
	out := &ir.AgentTask{Assignee: who[0], If: a.Expr, Capabilities: capabilities(n.Block), Task: n.Expr("task"), With: n.Expr("with"),
		Feedback: n.Expr("feedback")}
	if a.Expr != nil {
		out.Else = &who[1]
	}
	return out
}

// assignees are those that an attribute gives a task to, in order. A member that is known is an agent like any other.
func assignees(a *check.Attr) (out []ir.Assignee) {
	if a == nil {
		return nil
	}
	for i, n := range a.Names {
		switch member, known := a.Member(i); {
		case !n.Pool:
			out = append(out, ir.Assignee{Agent: n.Name})
		case known != "":
			out = append(out, ir.Assignee{Agent: known})
		default:
			out = append(out, ir.Assignee{Pool: n.Name, Member: member})
		}
	}
	return out
}

// lowerCall makes a call. Inputs that are sensitive stand by themselves.
func lowerCall(n *check.Node, _ inherited) ir.Action { return call(n.Block, n.Attrs["call"]) }

// call makes the call of the workflow that an attribute of a block names, with the inputs of the block.
func call(b *check.Block, to *check.Attr) *ir.Call {
	out := &ir.Call{Workflow: to.Names[0].Name, With: b.Expr("with")}
	if out.With != nil && out.With.Sensitive {
		out.With, out.Inputs = nil, b.Attrs["with"].Members
	}
	return out
}

// handoffTo is the name that work is handed over to. anyone are the members of a pool that may take the work, members those that the name
// must be one of.
func handoffTo(a *check.Attr) (to ir.Expr, anyone, members []string) {
	if len(a.Names) == 0 {
		return *a.Expr, nil, nil
	}
	r := a.Names[0]
	to = ir.Expr{Kind: ir.Const, Const: r.Name, Type: value.StringType}
	if !r.Pool {
		return to, nil, nil
	}
	switch pick, name := a.Member(0); {
	case pick != nil:
		return *pick, nil, a.Strings
	case name != "":
		to.Const = name
		return to, nil, nil
	}
	return to, a.Strings, nil
}
