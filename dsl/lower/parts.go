package lower

import (
	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/ir"
)

// block lowers an action that is a block of the step.
func (l *workflow) block(n *check.Node, out *ir.Node) {
	switch b := action(n); b.Schema.Kind {
	case "http":
		out.HTTP = &ir.HTTP{URL: *b.Expr("url"), Method: b.Expr("method"), Headers: b.Expr("headers"), Query: b.Expr("query"), Body: b.Expr("body"),
			Expect: b.Expr("expect"), Follow: b.Expr("follow"), MaxBody: b.Expr("max_bytes")}
	case "remember":
		out.Remember = remember(b)
	case "recall":
		out.Recall = recall(b)
	case "wait":
		out.Wait = &ir.Wait{Duration: b.Expr("duration"), At: b.Expr("at")}
	case "fail":
		out.Fail = &ir.Fail{Message: b.Expr("message"), Kind: ir.ErrorKind(b.Text("kind"))}
	case "end":
		out.End = &ir.End{Status: ir.EndStatus(b.Text("status")), Message: b.Expr("message")}
	}
}

// action is the block that says what a step does.
func action(n *check.Node) *check.Block {
	for _, kind := range []string{"http", "remember", "recall", "wait", "fail", "end"} {
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
		return &ir.Join{Word: ir.JoinWord(a.Text)}
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

// progress are the percentages of a deadline, which are written out.
func progress(b *check.Block) (out []float64) {
	if e := b.Expr("progress"); e != nil {
		for _, v := range e.Const.([]any) {
			out = append(out, v.(float64))
		}
	}
	return out
}

func compensate(n *check.Node, shell string) *ir.Compensate {
	b := n.Inner("compensate")
	if b == nil {
		return nil
	}
	if s := b.Text("shell"); s != "" {
		shell = s
	}
	return &ir.Compensate{Run: *run(b.Attrs["run"], shell, ""), Dir: b.Expr("dir"), Env: env(b), PassEnv: passEnv(b), Timeout: b.Expr("timeout")}
}

// names are the declarations that an attribute refers to, in order.
func names(a *check.Attr) (out []string) {
	if a != nil {
		for _, r := range a.Names {
			out = append(out, r.Name)
		}
	}
	return out
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
