package lower

import (
	"sort"
	"time"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// memory lowers the block at the top; nil where there is none.
func memory(b *check.Block) *ir.Memory {
	if b == nil {
		return nil
	}
	out := &ir.Memory{Store: b.Text("store"), ConsolidateEvery: whole(b, "consolidate_every")}
	if list := names(b.Attrs["editor"]); list != nil {
		out.Editor = list[0]
	}
	if name := b.Text("embedder"); name != "" {
		out.Embedder = &ir.Embedder{Provider: name}
	}
	if e := b.Inner("embedder"); e != nil {
		out.Embedder = &ir.Embedder{Provider: e.Text("provider"), Model: e.Text("model"), BaseURL: e.Text("base_url"), KeyEnv: e.Text("key_env")}
	}
	if s := b.Inner("short_term"); s != nil {
		out.ShortTermTasks, out.ShortTermAge = whole(s, "tasks"), duration(s, "max_age")
	}
	if w := b.Inner("working"); w != nil {
		out.WorkingRefresh = duration(w, "refresh")
	}
	return out
}

// agentMemory is what an agent has of the memory: what its own block says, over that at the top, over the defaults. Nobody has
// any where neither is there, and an agent of type null, which does nothing, never has.
func agentMemory(b, top *check.Block) *ir.AgentMemory {
	own := b.Inner("memory")
	if own == nil && top == nil || b.Text("type") == string(ir.AgentNull) {
		return nil
	}
	out := &ir.AgentMemory{Recall: true, Learn: true, Budget: schema.DefaultRecallBudget, Most: schema.DefaultRecalled}
	if top != nil {
		out.Promote = top.Text("promote") == "succeeded"
		bounds(out, top.Inner("recall"))
	}
	if own != nil {
		bounds(out, own)
		out.Recall, out.Learn, out.Trusted = on(own, "recall", true), on(own, "learn", true), on(own, "trusted", false)
		out.Groups = sorted(own, "groups")
	}
	return out
}

func bounds(out *ir.AgentMemory, b *check.Block) {
	if b == nil {
		return
	}
	if n := whole(b, "budget"); n != nil {
		out.Budget = *n
	}
	if n := whole(b, "k"); n != nil {
		out.Most = *n
	}
}

func remember(b *check.Block) *ir.Remember {
	out := &ir.Remember{Text: b.Expr("text"), Lesson: b.Expr("lesson"), Context: b.Expr("context"), Observation: b.Expr("observation"), Type: b.Text("type"),
		Tags: b.Expr("tags"), Importance: b.Expr("importance"), Scope: b.Text("scope")}
	if list := names(b.Attrs["agent"]); list != nil {
		out.Agent = list[0]
	}
	switch {
	case out.Scope == "shared":
		out.Scope = ""
	case out.Scope == "" && out.Agent != "":
		out.Scope = "agent:" + out.Agent
	}
	if out.Type == "" {
		out.Type = "note"
		if out.Lesson != nil {
			out.Type = "insight"
		}
	}
	return out
}

func recall(b *check.Block) *ir.Recall {
	out := &ir.Recall{Query: *b.Expr("query"), K: b.Expr("k"), Type: b.Text("type"), Tag: b.Expr("tag"), Groups: sorted(b, "groups"), Budget: b.Expr("budget")}
	if list := names(b.Attrs["agent"]); list != nil {
		out.Agent = list[0]
	}
	return out
}

// whole is a number that is written out; nil where it is not given.
func whole(b *check.Block, name string) *int {
	e := b.Expr(name)
	if e == nil {
		return nil
	}
	n := int(e.Const.(float64)) // the file fixes it
	return &n
}

// duration is one that is written out; 0 where it is not given.
func duration(b *check.Block, name string) time.Duration {
	e := b.Expr(name)
	if e == nil {
		return 0
	}
	d, _ := value.ParseDuration(e.Const.(string)) // it was checked
	return d
}

func on(b *check.Block, name string, otherwise bool) bool {
	if a := b.Attrs[name]; a != nil {
		return a.Flag
	}
	return otherwise
}

func sorted(b *check.Block, name string) []string {
	a := b.Attrs[name]
	if a == nil {
		return nil
	}
	out := append([]string{}, a.Strings...)
	sort.Strings(out)
	return out
}
