// Package lower turns a checked program into the IR that runs: defaults of workflows and groups are handed down to the
// steps they are for, names are put in order, and places are set aside.
//
// It assumes what check has established and reports nothing itself. It must never import files or anything of the
// runner. Enter at [Lower]. What holds always: the result depends on what the file says, not on how it is laid out, so
// formatting, comments, line ends and the order of top-level blocks other than quotas leave its hash as it is. The order
// of quotas has a meaning.
package lower

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Positions says where things are declared: a workflow as "WORKFLOW", a node as "WORKFLOW/NODE", its attributes as
// "WORKFLOW/NODE/ATTRIBUTE" and gates in it as "WORKFLOW/NODE/gate.NAME", inputs and outputs as "WORKFLOW/input.NAME"
// and "WORKFLOW/output.NAME", and what stands at the top as "var.NAME", "agent.NAME", "pool.NAME",
// "gate.NAME", "quota.NAME", "channel.NAME", "escalation.NAME", "loop.NAME", "on.EVENT" and "routine.NAME".
type Positions map[string]diag.Range

// Lower makes the IR of a program without errors.
func Lower(p *check.Program) (*ir.Program, Positions) {
	out, at := &ir.Program{Files: p.Files}, Positions{}
	for _, v := range p.Variables {
		out.Variables = append(out.Variables, variable(v))
		at["var."+v.Name] = v.Src.Header
	}
	for _, a := range p.Locals {
		out.Locals = append(out.Locals, ir.Local{Name: a.Src.Name, Expr: *a.Expr})
	}
	out.Memory = memory(p.Memory)
	agents := map[string]*ir.Retry{}
	for _, b := range p.Agents {
		out.Agents = append(out.Agents, agent(b, p))
		at["agent."+b.Name] = b.Src.Header
		agents[b.Name] = retry(b)
	}
	for _, b := range p.Gates {
		out.Gates = append(out.Gates, gate(b, b.Name, ""))
		at["gate."+b.Name] = b.Src.Header
	}
	for _, b := range p.Quotas {
		out.Quotas = append(out.Quotas, ir.Quota{Name: b.Name, Capacity: b.Expr("capacity"), RateLimit: rateLimit(b), Breaker: breaker(b), Spending: spending(b)})
		at["quota."+b.Name] = b.Src.Header
	}
	for _, b := range p.Channels {
		out.Channels = append(out.Channels, channel(b))
		at["channel."+b.Name] = b.Src.Header
	}
	for _, b := range p.Routines {
		out.Routines = append(out.Routines, routine(b))
		at["routine."+b.Name] = b.Src.Header
	}
	for _, b := range p.Escalations {
		out.Escalations = append(out.Escalations, escalation(b))
		at["escalation."+b.Name] = b.Src.Header
	}
	for _, b := range p.Ons {
		o := ir.On{Event: b.Name, Workflow: b.Attrs["workflow"].Names[0].Name, When: b.Expr("when"), With: b.Expr("with"), Data: typ(b, "data")}
		if o.Hook = b.Hook(); o.Hook != nil {
			o.Data = ir.WebhookData(o.Data)
		}
		if o.Files = b.Files(); o.Files != nil {
			o.Data = ir.FileData()
		}
		out.Ons = append(out.Ons, o)
		at["on."+b.Name] = b.Src.Header
	}
	pools := map[string][]string{}
	for _, b := range p.Pools {
		pools[b.Name] = names(b.Attrs["members"])
		out.Pools = append(out.Pools, ir.Pool{Name: b.Name, Members: pools[b.Name], Strategy: strategy(b)})
		at["pool."+b.Name] = b.Src.Header
	}
	for _, w := range p.Workflows {
		l := &workflow{src: w, checked: p, program: out, agents: agents, pools: pools, at: at}
		out.Workflows = append(out.Workflows, l.lower())
	}
	sources := map[string][]string{}
	for _, b := range p.Loops {
		out.Loops = append(out.Loops, loop(b, p, sources))
		at["loop."+b.Name] = b.Src.Header
	}
	sort.Slice(out.Variables, func(i, j int) bool { return out.Variables[i].Name < out.Variables[j].Name })
	sort.Slice(out.Locals, func(i, j int) bool { return out.Locals[i].Name < out.Locals[j].Name })
	sort.Slice(out.Escalations, func(i, j int) bool { return out.Escalations[i].Name < out.Escalations[j].Name })
	sort.Slice(out.Routines, func(i, j int) bool { return out.Routines[i].Name < out.Routines[j].Name })
	sort.Slice(out.Pools, func(i, j int) bool { return out.Pools[i].Name < out.Pools[j].Name })
	sort.Slice(out.Channels, func(i, j int) bool { return out.Channels[i].Name < out.Channels[j].Name })
	sort.Slice(out.Agents, func(i, j int) bool { return out.Agents[i].Name < out.Agents[j].Name })
	sort.Slice(out.Gates, func(i, j int) bool { return out.Gates[i].Name < out.Gates[j].Name })
	sort.Slice(out.Loops, func(i, j int) bool { return out.Loops[i].Name < out.Loops[j].Name })
	slices.SortFunc(out.Ons, func(a, b ir.On) int {
		return cmp.Or(strings.Compare(a.Event, b.Event), strings.Compare(a.Workflow, b.Workflow))
	})
	sort.Slice(out.Workflows, func(i, j int) bool { return out.Workflows[i].Name < out.Workflows[j].Name })
	return out, at
}

func variable(v *check.Decl) ir.Variable {
	out := ir.Variable{Name: v.Name, Type: v.Type, Enum: v.Enum, Gates: names(v.Attrs["gates"])}
	if a := v.Attrs["sensitive"]; a != nil {
		out.Sensitive = a.Flag
	}
	for _, b := range v.Blocks {
		out.Validation = append(out.Validation, ir.Require{Condition: *b.Expr("condition"), Message: b.Expr("message")})
	}
	if v.Default != nil {
		out.HasDefault, out.Default = true, v.Default.Const
	}
	return out
}

func agent(b *check.Block, p *check.Program) ir.Agent {
	return ir.Agent{
		Name: b.Name, Type: ir.AgentType(b.Text("type")), Command: b.Expr("command"), Run: b.Expr("run"), Values: values(b), Shell: b.Text("shell"),
		Dir: b.Expr("dir"), Env: env(b), PassEnv: passEnv(b), Input: b.Text("input"), OutputFormat: b.Text("output_format"),
		NewSession: words(b, "new_session"), ResumeSession: words(b, "resume_session"), KeepSession: flag(b, "keep_session"),
		URL: b.Expr("url"), Method: b.Text("method"), Headers: b.Expr("headers"),
		Concurrency: b.Expr("concurrency"), Timeout: b.Expr("timeout"), Heartbeat: b.Expr("heartbeat"),
		Retry: retry(b), Classify: classify(b), Output: typ(b, "output"), Soul: b.Expr("soul"), Memory: agentMemory(b, p.Memory),
		RateLimit: rateLimit(b), Breaker: breaker(b), Quotas: quotas(b, p),
		Capabilities: capabilities(b), Resources: resources(b), Chat: chat(b), Tool: tool(b), ACP: acp(b), Servers: servers(b),
	}
}

// chat is how the model of an agent of type chat is asked; nil for other types.
func chat(b *check.Block) *ir.Chat {
	if b.Text("type") != string(ir.AgentChat) {
		return nil
	}
	out := &ir.Chat{Provider: ir.Provider(b.Text("provider")), API: ir.ChatAPI(b.Text("api")), Model: b.Expr("model"), BaseURL: b.Expr("base_url"),
		Key: b.Expr("key"), KeyEnv: b.Text("key_env"), MaxTokens: b.Expr("max_tokens"), Temperature: b.Expr("temperature")}
	if out.API == ir.APIChat {
		out.API = ""
	}
	if p := b.Inner("prices"); p != nil {
		out.Prices = &ir.Prices{Input: p.Expr("input"), CachedInput: p.Expr("cached_input"), Output: p.Expr("output")}
	}
	out.MaxTurns, out.ContextTokens = b.Expr("max_turns"), b.Expr("context_tokens")
	return out
}

// servers are the MCP servers of an agent.
func servers(b *check.Block) (out []ir.ToolServer) {
	for _, s := range b.Blocks {
		if s.Schema.Kind == "server" {
			out = append(out, toolServer(s))
		}
	}
	return out
}

// toolServer is an MCP server.
func toolServer(b *check.Block) ir.ToolServer {
	out := ir.ToolServer{Name: b.Name, Command: b.Expr("command"), Dir: b.Expr("dir"), Env: env(b), PassEnv: passEnv(b), URL: b.Expr("url"), Headers: b.Expr("headers")}
	var pins []any
	if pin := b.Expr("pin"); pin != nil {
		pins, _ = pin.Const.([]any) // the check has read it
	}
	tools := b.Attrs["tools"]
	if tools == nil { // of an agent of type acp
		return out
	}
	for i, name := range tools.Strings {
		t := ir.Tool{Name: name}
		if pins != nil {
			t.Pin = pins[i]
		}
		out.Tools = append(out.Tools, t)
	}
	return out
}

// tool is that of an agent of type mcp; nil for other types.
func tool(b *check.Block) *ir.Tool {
	if b.Text("type") != string(ir.AgentMCP) {
		return nil
	}
	out := &ir.Tool{Name: b.Text("tool")}
	if pin := b.Expr("pin"); pin != nil {
		out.Pin = pin.Const // the check has read it
	}
	return out
}

// acp is what an agent of type acp may do; nil for other types.
func acp(b *check.Block) *ir.ACP {
	if b.Text("type") != string(ir.AgentACP) {
		return nil
	}
	out := &ir.ACP{Files: ir.FileAccess(b.Text("files"))}
	if out.Files == ir.FilesNone {
		out.Files = ""
	}
	for _, in := range b.Blocks {
		if in.Schema.Kind != "permission" {
			continue
		}
		p := ir.Permission{Allow: in.Attrs["allow"].Flag}
		for name, to := range map[string]*[]string{"kinds": &p.Kinds, "paths": &p.Paths} { // any order: each for itself
			if a := in.Attrs[name]; a != nil {
				*to = a.Strings
			}
		}
		out.Permissions = append(out.Permissions, p)
	}
	return out
}

func channel(b *check.Block) ir.Channel {
	return ir.Channel{Name: b.Name, Type: ir.ChannelType(b.Text("type")), URL: b.Expr("url"), Secret: b.Expr("secret"), Headers: b.Expr("headers"),
		Command: b.Expr("command"), Host: b.Expr("host"), From: b.Expr("from"), To: b.Expr("to"), Path: b.Expr("path"), Dedupe: b.Expr("dedupe")}
}

func routine(b *check.Block) ir.Routine {
	out := ir.Routine{Name: b.Name, Cron: b.Text("cron"), Timezone: b.Text("timezone"), Workflow: names(b.Attrs["workflow"])[0], With: b.Expr("with"),
		Every: b.Span("every"), Jitter: b.Span("jitter"), Overlap: ir.Overlap(b.Text("overlap")), Missed: missed(b.Text("missed"))}
	if a := b.Attrs["paused"]; a != nil {
		out.Paused = a.Flag
	}
	return out
}

// missed is the rule for missed moments that a word of the file means.
func missed(word string) ir.Missed {
	switch word {
	case "skip":
		return ir.MissedNone
	case "once":
		return ir.MissedLatest
	}
	return ir.Missed(word)
}

// strategy is that of a pool, where it is not the usual one.
func strategy(b *check.Block) ir.Strategy {
	if s := ir.Strategy(b.Text("strategy")); s != ir.LeastBusy {
		return s
	}
	return ""
}

func capabilities(b *check.Block) []string {
	if a := b.Attrs["capabilities"]; a != nil {
		return slices.Sorted(slices.Values(a.Strings))
	}
	return nil
}

func benchmark(b *check.Block, gate string) *ir.Benchmark {
	out := &ir.Benchmark{Samples: 5, Metric: ir.MetricTime, Baseline: gate[strings.LastIndexByte(gate, '/')+1:], MaxRegression: 0.1}
	if e := b.Expr("samples"); e != nil {
		n, _ := e.Const.(float64)
		out.Samples = int(n)
	}
	if s := b.Text("metric"); s != "" {
		out.Metric = s
	}
	if s := b.Text("baseline"); s != "" {
		out.Baseline = s
	}
	if s := b.Text("max_regression"); s != "" {
		out.MaxRegression, _ = check.Percent(s)
	}
	return out
}

func gate(b *check.Block, name, shell string) ir.Gate {
	if s := b.Text("shell"); s != "" {
		shell = s
	}
	out := ir.Gate{Name: name, Check: b.Expr("check"), Dir: b.Expr("dir"), Env: env(b), Timeout: b.Expr("timeout"),
		Message: b.Expr("message"), OnFail: ir.OnFail(b.Text("on_fail")), Schema: b.Expr("schema"), PassEnv: passEnv(b)}
	if a := b.Attrs["run"]; a != nil {
		out.Run = run(a, shell, "")
	}
	out.Findings, out.Block = ir.Findings(b.Text("findings")), ir.Severity(b.Text("block"))
	if r := b.Inner("review"); r != nil {
		out.Review, out.Block = &ir.Review{Assignee: assignees(r.Attrs["agent"])[0], Task: r.Expr("task"), Criteria: r.Expr("criteria")}, ir.Severity(r.Text("block"))
	}
	if m := b.Inner("benchmark"); m != nil {
		out.Run = run(m.Attrs["run"], shell, "")
		out.Benchmark = benchmark(m, name)
	}
	if s := b.Inner("security"); s != nil {
		for _, scan := range s.Attrs["scan"].Strings {
			out.Scans = append(out.Scans, ir.Scan(scan))
		}
		out.Block = ir.Severity(s.Text("block"))
	}
	return out
}

func run(a *check.Attr, shell, parse string) *ir.Run {
	if a.Script {
		return &ir.Run{Script: a.Expr, Values: a.Values, Shell: shell, Parse: ir.Parse(parse)}
	}
	return &ir.Run{Argv: a.Expr, Parse: ir.Parse(parse)}
}

// values are those of the script of a block.
func values(b *check.Block) []ir.Expr {
	if a := b.Attrs["run"]; a != nil {
		return a.Values
	}
	return nil
}

func retry(b *check.Block) *ir.Retry {
	r := b.Inner("retry")
	if r == nil {
		return nil
	}
	return &ir.Retry{MaxAttempts: r.Expr("max_attempts"), BaseDelay: r.Expr("base_delay"), MaxDelay: r.Expr("max_delay"),
		Multiplier: r.Expr("multiplier"), Jitter: ir.Jitter(r.Text("jitter")), When: r.Expr("when")}
}

func env(b *check.Block) map[string]*ir.Expr {
	if a := b.Attrs["env"]; a != nil {
		return a.Env
	}
	return nil
}

func passEnv(b *check.Block) []string {
	a := b.Attrs["pass_env"]
	if a == nil {
		return nil
	}
	out := append([]string{}, a.Strings...) // an empty list is one, too: it inherits nothing
	sort.Strings(out)
	return out
}

func flag(b *check.Block, name string) bool {
	a := b.Attrs[name]
	return a != nil && a.Flag
}

// words are the texts of a list, in its order.
func words(b *check.Block, name string) []string {
	if a := b.Attrs[name]; a != nil {
		return a.Strings
	}
	return nil
}

func typ(b *check.Block, name string) *value.Type {
	if a := b.Attrs[name]; a != nil {
		return a.Type
	}
	return nil
}
