package dsl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/schema"
)

// codesOf loads a program and names what is found, in order, warnings in parentheses.
func codesOf(text string, opts Options) string {
	_, list := Check(memory(text), "w.hcl", opts)
	var out []string
	for _, d := range list {
		switch d.Severity.String() {
		case "error":
			out = append(out, d.Code)
		case "warning":
			out = append(out, "("+d.Code+")")
		}
	}
	return strings.Join(out, " ")
}

// At the bound a number is taken, and beyond it is not.
func TestBoundsOfConstructs(t *testing.T) {
	step := func(inside string) string { return "workflow \"w\" {\n  step \"s\" {\n    " + inside + "\n  }\n}\n" }
	run := func(inside string) string { return step("run = [\"true\"]\n" + inside) }
	for _, c := range []struct {
		name       string
		at, beyond string
		code       string
	}{
		{"MaxIterations", run(fmt.Sprintf("repeat { max = %d }", limits.MaxIterations)), run(fmt.Sprintf("repeat { max = %d }", limits.MaxIterations+1)), "F0205"},
		{"MaxPriority", run(fmt.Sprintf("priority = %d", limits.MaxPriority)), run(fmt.Sprintf("priority = %d", limits.MaxPriority+1)), "F0205"},
		{"least priority", run(fmt.Sprintf("priority = -%d", limits.MaxPriority)), run(fmt.Sprintf("priority = -%d", limits.MaxPriority+1)), "F0205"},
		{"MaxRedirects", step(fmt.Sprintf("http {\nurl = \"https://x.y\"\nfollow = %d\n}", limits.MaxRedirects)), step(fmt.Sprintf("http {\nurl = \"https://x.y\"\nfollow = %d\n}", limits.MaxRedirects+1)), "F0205"},
		{"MaxBody", step(fmt.Sprintf("http {\nurl = \"https://x.y\"\nmax_bytes = %d\n}", limits.MaxBody)), step(fmt.Sprintf("http {\nurl = \"https://x.y\"\nmax_bytes = %d\n}", limits.MaxBody+1)), "F0205"},
		{"MaxRecalled", step(fmt.Sprintf("recall {\nquery = \"x\"\nk = %d\n}", limits.MaxRecalled)), step(fmt.Sprintf("recall {\nquery = \"x\"\nk = %d\n}", limits.MaxRecalled+1)), "F0205"},
		{"MaxRecallBudget", step(fmt.Sprintf("recall {\nquery = \"x\"\nbudget = %d\n}", limits.MaxRecallBudget)), step(fmt.Sprintf("recall {\nquery = \"x\"\nbudget = %d\n}", limits.MaxRecallBudget+1)), "F0205"},
		{"importance", step("remember {\ntext = \"x\"\nimportance = 1\n}"), step("remember {\ntext = \"x\"\nimportance = 1.5\n}"), "F0205"},
		{"MaxShortTerm", fmt.Sprintf("memory {\n  short_term { tasks = %d }\n}\n", schema.MaxShortTerm) + step("value = 1"), fmt.Sprintf("memory {\n  short_term { tasks = %d }\n}\n", schema.MaxShortTerm+1) + step("value = 1"), "F0205"},
		{"MaxConsolidation", fmt.Sprintf("memory {\n  consolidate_every = %d\n}\n", schema.MaxConsolidation) + step("value = 1"), fmt.Sprintf("memory {\n  consolidate_every = %d\n}\n", schema.MaxConsolidation+1) + step("value = 1"), "F0205"},
		{"MaxGroups", groupsOf(schema.MaxGroups) + step("value = 1"), groupsOf(schema.MaxGroups+1) + step("value = 1"), "F0291"},
		{"progress", run("deadline {\nafter = \"1h\"\nprogress = [0.1, 99.9]\n}"), run("deadline {\nafter = \"1h\"\nprogress = [100]\n}"), "F0278"},
		{"a join of all", joinOf(3, "3"), joinOf(3, "4"), "F0263"},
		{"a join of one", joinOf(3, "1"), joinOf(3, "0"), "F0205"},
		{"MaxJoinTried", joinOf(check.MaxJoinTried+1, `"succeeded > total"`), joinOf(check.MaxJoinTried, `"succeeded > total"`), "F0263"},
		{"a join by counts", joinOf(3, `"succeeded >= 2 && failed == 1"`), joinOf(3, `"succeeded >= 2 && failed == 2"`), "F0263"},
	} {
		if got := codesOf(c.at, Options{}); got != "" {
			t.Errorf("%s: at the bound: %s", c.name, got)
		}
		if got := codesOf(c.beyond, Options{}); got != c.code {
			t.Errorf("%s: beyond the bound: %q, want %s", c.name, got, c.code)
		}
	}
}

// groupsOf is a memory with so many groups.
func groupsOf(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("\"g%d\"", i)
	}
	return "memory {\n  groups = [" + strings.Join(names, ", ") + "]\n}\n"
}

// joinOf is a parallel of n steps with a join.
func joinOf(n int, join string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "workflow \"w\" {\n  parallel \"p\" {\n    join = %s\n", join)
	for i := range n {
		fmt.Fprintf(&b, "    step \"s%d\" { run = [\"true\"] }\n", i)
	}
	return b.String() + "  }\n}\n"
}

func TestRequiredVersion(t *testing.T) {
	for _, c := range []struct{ asks, this, want string }{
		{">= 0.1", "0.1.0", ""}, {">= 0.1, < 2", "1.9.9", ""}, {"0.1", "0.1.0", ""}, {"= 0.1.0", "v0.1.0", ""}, {"!= 0.1", "0.1.0", "F0276"},
		{"> 0.1", "0.1.0", "F0276"}, {"> 0.1", "0.1.1", ""}, {"<= 1", "1.0.1", "F0276"}, {"< 2", "2.0.0", "F0276"}, {">= 10", "9.9.9", "F0276"},
		{">= 0.1", "0.1.0-dev", ""}, {"< 0.1", "0.1.0-dev", "F0276"}, // on the way to 0.1.0 it has what that will have
		{">= 99", "", ""}, {">= 99", "unknown", ""}, // not compared
		{">= x", "0.1.0", "F0276"}, {">=", "0.1.0", "F0276"}, {"", "0.1.0", ""}, {">= 1,", "1.0.0", "F0276"}, {">= 1.2.3.4", "2.0.0", "F0276"},
	} {
		text := fmt.Sprintf("flowrun {\n  required_version = %q\n}\nworkflow \"w\" {\n  step \"s\" { run = [\"true\"] }\n}\n", c.asks)
		if got := codesOf(text, Options{Version: c.this}); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.asks, c.this, got, c.want)
		}
	}
}

// Whether a condition is decided depends on the rule, on what the node needs and on what can have become of that.
func TestDecidedConditions(t *testing.T) {
	program := func(first, second string) string {
		return "workflow \"w\" {\n  input \"x\" { type = bool }\n  step \"a\" {\n    run = [\"true\"]\n" + first + "\n  }\n  step \"b\" {\n    run = [\"true\"]\n" + second + "\n  }\n}\n"
	}
	needs := "depends_on = [step.a]\n"
	for _, c := range []struct{ first, second, want string }{
		{"", needs + `when = "step.a.status == 'failed'"`, "(F0267)"},
		{"", `when = "step.a.status == 'failed'"`, ""}, // observed
		{"", needs + `when = "step.a.status == 'succeeded'"`, "(F0267)"},
		{`when = "input.x"`, needs + `when = "step.a.status == 'succeeded'"`, ""},
		{`when = "input.x"`, needs + `when = "step.a.status != 'failed'"`, "(F0267)"},
		{`on_error = "continue"`, needs + `when = "step.a.status == 'failed'"`, ""},
		{"degrade { output = 1 }", needs + `when = "step.a.status == 'failed'"`, ""},
		{"", needs + "trigger_rule = \"all_done\"\n" + `when = "step.a.status == 'failed'"`, ""},
		{"", needs + "trigger_rule = \"all_failed\"\n" + `when = "step.a.status == 'succeeded'"`, "(F0267)"},
		{"", needs + "trigger_rule = \"all_failed\"\n" + `when = "step.a.status in ['failed', 'blocked', 'cancelled']"`, "(F0267)"},
		{"", needs + `when = "step.a.status == 'failed' || input.x"`, ""},
		{"", needs + `when = "step.a.status == 'failed' && input.x"`, "(F0267)"},
		{"", needs + `when = "!(step.a.status == 'failed') && (input.x || true)"`, "(F0267)"},
		{"", needs + `when = "'failed' == step.a.status"`, "(F0267)"},
		{"", `when = "false"`, "(F0262)"}, {"", `when = "true"`, ""},
	} {
		if got := codesOf(program(c.first, c.second), Options{}); got != c.want {
			t.Errorf("%s; %s: %q, want %q", c.first, c.second, got, c.want)
		}
	}
}

// A sensitive value may stand where an attempt is prepared, and nowhere else, by way of locals too.
func TestPlacesOfSensitiveValues(t *testing.T) {
	const head = "variable \"s\" {\n  type = string\n  sensitive = true\n}\nlocals {\n  l = \"x ${var.s}\"\n}\nagent \"n\" { type = \"null\" }\n"
	step := func(inside string) string { return head + "workflow \"w\" {\n  step \"s\" {\n" + inside + "\n  }\n}\n" }
	for _, c := range []struct{ text, want string }{
		{step(`run = ["x", "--", var.s]`), ""}, {step(`run = "x -- ${local.l}"`), ""}, {step("run = [\"x\"]\nenv = { A = local.l }"), ""}, {step("run = [\"x\"]\nstdin = var.s"), ""},
		{step("agent = agent.n\ntask = var.s\nwith = { a = local.l }"), ""}, {step("http {\nurl = \"https://x.y\"\nheaders = { authorization = local.l }\n}"), ""},
		{step("run = [\"x\"]\ncompensate { run = [\"y\", \"--\", var.s] }"), ""},
		{step(`value = local.l`), "F0271"}, {step("run = [\"x\"]\nwhen = \"local.l != ''\""), "F0271"}, {step("run = [\"x\"]\ndir = var.s"), "F0271"},
		{step("run = [\"x\", \"--\", each.key]\nfor_each = { a = var.s }"), "F0271"}, {step("run = [\"x\"]\ntimeout = var.s"), "F0271"},
		{step("run = [\"x\"]\ndegrade { output = var.s }"), "F0271"}, {step("run = [\"x\"]\ngate \"g\" { check = \"result.output == var.s\" }"), "F0271"},
		{step("run = [\"x\"]\nretry { when = \"error.message contains var.s\" }"), "F0271"}, {step("run = [\"x\"]\nrequire {\ncondition = \"true\"\nmessage = var.s\n}"), "F0271"},
		{step("fail { message = var.s }"), "F0271"}, {step("wait { at = var.s }"), "F0271"}, {step("run = [\"x\"]\nrepeat {\nmax = 2\nuntil = \"var.s == ''\"\n}"), "F0271"},
		{head + "workflow \"w\" {\n  env = { A = var.s }\n  step \"s\" { run = [\"x\"] }\n}\n", ""},
		{head + "workflow \"w\" {\n  concurrency { group = var.s }\n  step \"s\" { run = [\"x\"] }\n}\n", "F0271"},
	} {
		if got := codesOf(c.text, Options{}); got != c.want {
			t.Errorf("%q, want %q:\n%s", got, c.want, strings.TrimPrefix(c.text, head))
		}
	}
}
