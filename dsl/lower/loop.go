package lower

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// loop lowers a loop. A pool among its agents becomes its members. known has of each label the sources that loops before it have.
func loop(b *check.Block, p *check.Program, known map[string][]string) ir.Loop {
	out := ir.Loop{Name: b.Name, Agents: p.LoopAgents(b), Lease: b.Expr("lease"), Heartbeat: b.Expr("heartbeat"), Idle: b.Expr("idle"), IdleMax: b.Expr("idle_max"),
		Notify: names(b.Attrs["notify"]), Quotas: quotas(b, p)}
	if a := b.Attrs["worktree"]; a != nil {
		out.Worktree = a.Flag
	}
	for _, i := range b.Blocks {
		switch i.Schema.Kind {
		case "source":
			s := ir.Source{Name: i.Name, Kind: ir.SourceKind(i.Name), Rotate: names(i.Attrs["rotate"]), Every: i.Expr("every"), With: i.Expr("with")}
			switch i.Name {
			case check.Backlog:
				s.Kind = ir.SourceKind(i.Text("from"))
			case check.Roadmap:
				s.Kind = ir.SourceFile
				s.Settings = append(s.Settings, ir.Setting{Name: "tickets", Value: ir.Expr{Kind: ir.Const, Const: true, Type: value.BoolType}})
				if i.Text("tickets") == check.TicketsOfBacklog {
					s.Settings = append(s.Settings, backlog(b.Backlogs()[0])...)
				}
			}
			for _, name := range check.SourceSettings {
				if e := i.Expr(name); e != nil {
					s.Settings = append(s.Settings, ir.Setting{Name: name, Value: *e})
				}
			}
			text, _ := json.Marshal(s) // sources with equal attributes share a name, which is a part of the names of their items over the store
			at := slices.Index(known[i.Name], string(text))
			if at < 0 {
				at, known[i.Name] = len(known[i.Name]), append(known[i.Name], string(text))
			}
			if at > 0 {
				s.Name = fmt.Sprintf("%s-%d", i.Name, at+1)
			}
			out.Sources = append(out.Sources, s)
		case "handle":
			out.Handles = append(out.Handles, ir.Handle{When: i.Expr("when"), Workflow: names(i.Attrs["workflow"])[0], With: i.Expr("with")})
		case "limits":
			out.Limits = &ir.LoopLimits{TasksPerHour: i.Expr("tasks_per_hour"), ConsecutiveFailures: i.Expr("consecutive_failures"), CostUSDPerDay: i.Expr("cost_usd_per_day")}
		case "target":
			out.Target = &ir.LoopTarget{Throughput: i.Expr("throughput"), SuccessRate: i.Expr("success_rate"), MeanTime: i.Expr("mean_time"), Idle: i.Expr("idle"),
				RetryRate: i.Expr("retry_rate"), EscalationRate: i.Expr("escalation_rate")}
		}
	}
	for i := range out.Sources {
		if s := &out.Sources[i]; slices.ContainsFunc(s.Settings, func(x ir.Setting) bool { return x.Name == intoBacklog }) {
			s.Into = out.Sources[slices.IndexFunc(b.Sources(), func(x *check.Block) bool { return x.Name == check.Backlog })].Name
			s.Settings = append(s.Settings, ir.Setting{Name: check.Backlog, Value: constText(s.Into)})
		}
	}
	return out
}

// intoBacklog is the setting of a roadmap that says where the backlog is that gets its tickets. The others follow, each behind the same word.
const intoBacklog = check.Backlog + ".from"

// backlog are the settings of a backlog, for the roadmap whose tickets it gets.
func backlog(b *check.Block) []ir.Setting {
	out := []ir.Setting{{Name: intoBacklog, Value: constText(b.Text("from"))}}
	for _, name := range check.SourceSettings {
		if e := b.Expr(name); e != nil {
			out = append(out, ir.Setting{Name: check.Backlog + "." + name, Value: *e})
		}
	}
	return out
}

func constText(s string) ir.Expr { return ir.Expr{Kind: ir.Const, Const: s, Type: value.StringType} }
