package lower

import (
	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

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
	if b == nil && n.MadeAgain() {
		most := ir.Lit(float64(schema.DefaultRounds), value.IntType)
		if r := retry(n.Block); r != nil && r.MaxAttempts != nil {
			most = r.MaxAttempts
		}
		if !n.GatesAskAgain() { // an escalation alone has the group made again
			most = ir.Lit(1.0, value.IntType)
		}
		return &ir.Repeat{Gated: true, Max: *most}
	}
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

func resources(b *check.Block) *ir.Resources {
	in := b.Inner("resources")
	if in == nil {
		return nil
	}
	return &ir.Resources{CPUShares: in.Expr("cpu_shares"), Memory: in.Expr("memory"), Priority: in.Expr("priority")}
}

func budget(b *check.Block) *ir.Budget {
	in := b.Inner("budget")
	if in == nil {
		return nil
	}
	return &ir.Budget{Attempts: in.Expr("attempts"), Tokens: in.Expr("tokens"), CostUSD: in.Expr("cost_usd"), Warn: in.Expr("warn"),
		OnExceed: ir.OnExceed(in.Text("on_exceed")), Notify: names(in.Attrs["notify"])}
}

// adapt are the rules of a group or a workflow, in file order.
func adapt(b *check.Block) (out []ir.Adapt) {
	for _, r := range b.Blocks {
		if r.Schema.Kind != "adapt" {
			continue
		}
		rule := ir.Adapt{When: *r.Expr("when"), Until: r.Expr("until"), For: r.Expr("for"), Cooldown: r.Expr("cooldown"), MaxConcurrency: r.Expr("max_concurrency"), Notify: names(r.Attrs["notify"])}
		if a := r.Attrs["workflow"]; a != nil {
			rule.Call = call(r, a)
		}
		out = append(out, rule)
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

// classify are the rules of a block that give errors other kinds, in file order.
func classify(b *check.Block) (out []ir.Classify) {
	for _, r := range b.Blocks {
		if r.Schema.Kind == "classify" {
			out = append(out, ir.Classify{When: *r.Expr("when"), Kind: ir.ErrorKind(r.Text("kind"))})
		}
	}
	return out
}

// escalation lowers an escalation; its rules and levels are in file order.
func escalation(b *check.Block) ir.Escalation {
	out := ir.Escalation{Name: b.Name}
	for _, in := range b.Blocks {
		switch in.Schema.Kind {
		case "rule":
			out.Rules = append(out.Rules, ir.EscalationRule{When: in.Expr("when"), Level: in.Text("level")})
		case "level":
			l := ir.Level{Name: in.Name, Notify: names(in.Attrs["notify"])}
			if a := in.Attrs["workflow"]; a != nil {
				l.Heal = call(in, a)
			}
			if to := assignees(in.Attrs["reassign"]); len(to) > 0 {
				l.Reassign = &to[0]
			}
			if in.Attrs["await"] != nil {
				l.Await = &ir.Await{After: in.Expr("after"), AfterAck: in.Expr("after_ack")}
			}
			out.Levels = append(out.Levels, l)
		}
	}
	return out
}

func rateLimit(b *check.Block) *ir.RateLimit {
	r := b.Inner("rate_limit")
	if r == nil {
		return nil
	}
	return &ir.RateLimit{Requests: *r.Expr("requests"), Per: *r.Expr("per")}
}

func spending(b *check.Block) *ir.Spending {
	if b.Expr("per") == nil {
		return nil
	}
	return &ir.Spending{Attempts: b.Expr("attempts"), Tokens: b.Expr("tokens"), CostUSD: b.Expr("cost_usd"), Per: *b.Expr("per")}
}

func breaker(b *check.Block) *ir.Breaker {
	r := b.Inner("circuit_breaker")
	if r == nil {
		return nil
	}
	return &ir.Breaker{Failures: r.Expr("failures"), Reset: r.Expr("reset"), When: r.Expr("when"), Notify: names(r.Attrs["notify"])}
}

// quotas are what a block takes of quotas, in the order in which the program declares them.
func quotas(b *check.Block, p *check.Program) (out []ir.QuotaUse) {
	a := b.Attrs["quota"]
	if a == nil {
		return nil
	}
	for _, q := range p.Quotas {
		for _, r := range a.Names {
			if r.Name == q.Name {
				out = append(out, ir.QuotaUse{Quota: r.Name, Units: a.Env[r.Name]})
			}
		}
	}
	return out
}
