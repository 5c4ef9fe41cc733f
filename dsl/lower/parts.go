package lower

import (
	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/ir"
)

// block lowers an action that is a block of the step.
func (l *workflow) block(n *check.Node, out *ir.Node) {
	switch b := action(n); b.Schema.Kind {
	case "wait":
		out.Wait = &ir.Wait{Duration: b.Expr("duration")}
	case "fail":
		out.Fail = &ir.Fail{Message: b.Expr("message"), Kind: b.Text("kind")}
	case "end":
		out.End = &ir.End{Status: b.Text("status"), Message: b.Expr("message")}
	}
}

// action is the block that says what a step does.
func action(n *check.Node) *check.Block {
	for _, kind := range []string{"wait", "fail", "end"} {
		if b := n.Inner(kind); b != nil {
			return b
		}
	}
	panic("lower: a step without an action: " + n.Name) // check has found one
}

func join(n *check.Node) *ir.Join {
	a := n.Attrs["join"]
	switch {
	case a == nil:
		return nil
	case a.Text != "":
		return &ir.Join{Word: a.Text}
	case a.Expr.Kind == ir.Condition:
		return &ir.Join{Condition: a.Expr}
	}
	return &ir.Join{Count: a.Expr}
}

func repeat(n *check.Node) *ir.Repeat {
	b := n.Inner("repeat")
	if b == nil {
		return nil
	}
	return &ir.Repeat{Until: b.Expr("until"), Max: *b.Expr("max"), Delay: b.Expr("delay")}
}

// requires are the conditions that must hold before a node or a workflow starts, in file order.
func requires(b *check.Block) (out []ir.Require) {
	for _, r := range b.Blocks {
		if r.Schema.Kind == "require" {
			out = append(out, ir.Require{Condition: *r.Expr("condition"), Message: r.Expr("message")})
		}
	}
	return out
}
