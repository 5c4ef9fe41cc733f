package check

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// What is here says of the words of other tools how a file says the same, with the names and numbers of whoever wrote them.

// maxQuoted bounds how much of a file a hint repeats, in bytes.
const maxQuoted = 120

// other is an attribute that belongs to another tool.
type other struct {
	b   *Block
	src *syntax.Attr
}

// quote is a text of the file as a hint repeats it: "" where it is long, or goes over several lines.
func quote(text string) string {
	if len(text) > maxQuoted || strings.ContainsAny(text, "\n\r") {
		return ""
	}
	return text
}

// text is the value as it is written, or a placeholder.
func (o other) text(placeholder string) string {
	if t := quote(o.src.Text()); t != "" {
		return t
	}
	return placeholder
}

// str is the value if it is a literal text.
func (o other) str() (string, bool) {
	s, ok := literal(o.src.Expr())
	return s, ok && quote(s) != "" && !strings.Contains(s, `"`)
}

// number is the value if it is a literal number, as text.
func (o other) number() (string, bool) {
	l, ok := o.src.Expr().(*hclsyntax.LiteralValueExpr)
	return o.src.Text(), ok && l.Val.Type() == cty.Number
}

// write says to write an attribute, if the block has it.
func (o other) write(attr, text string) string {
	if o.b.Schema.Attr(attr) == nil || text == "" {
		return ""
	}
	return fmt.Sprintf("In flowrun, write  %s = %s.", attr, text)
}

// nest says to write an attribute in a block inside, if the block has one of the kind.
func (o other) nest(kind, attr, text string) string {
	if !o.b.Schema.Has(kind) || text == "" {
		return ""
	}
	return fmt.Sprintf("In flowrun, write  %s { %s = %s }.", kind, attr, text)
}

// renamed writes the same value in another attribute.
func renamed(attr string) func(other) string {
	return func(o other) string { return o.write(attr, o.text("…")) }
}

// span writes a number of a unit as a duration; a text is one already.
func span(attr, unit string) func(other) string {
	return func(o other) string {
		if n, ok := o.number(); ok {
			return o.write(attr, fmt.Sprintf("%q", n+unit))
		}
		if s, ok := o.str(); ok {
			if d := spokenDuration(s); d != "" {
				s = d
			}
			return o.write(attr, fmt.Sprintf("%q", s))
		}
		return ""
	}
}

// nodes writes names of nodes as references to them.
func (o other) nodes() string {
	var names []string
	add := func(x hclsyntax.Expression) {
		name, ok := literal(x)
		if t, isName := x.(*hclsyntax.ScopeTraversalExpr); isName {
			name, ok = t.Traversal.RootName(), len(t.Traversal) == 1
			if len(t.Traversal) == 2 && slices.Contains([]string{"step", "job", "jobs", "needs"}, name) {
				name, ok = traversalName(t.Traversal), true
			}
		}
		if ok && goodName(name) {
			names = append(names, "step."+name)
		}
	}
	if t, ok := o.src.Expr().(*hclsyntax.TupleConsExpr); ok {
		for _, x := range t.Exprs {
			add(x)
		}
	} else {
		add(o.src.Expr())
	}
	if len(names) == 0 {
		names = []string{"step.NAME"}
	}
	said := o.write("depends_on", "["+strings.Join(names, ", ")+"]")
	if _, ok := o.src.Expr().(*hclsyntax.TupleConsExpr); ok && said != "" && o.src.Name == "requires" {
		said += " " + strings.Replace(o.write("capabilities", o.text("…")), "In flowrun, write", "For what its agent must be able to do, write", 1)
	}
	return strings.TrimSpace(said)
}

// when writes a condition.
func (o other) when(text string, not bool) string {
	inner := strings.TrimSpace(syntax.WithoutSuccess(text))
	switch strings.ReplaceAll(inner, " ", "") {
	case "success()", "true":
		return "A node runs once the nodes that it needs have succeeded, so leave the line out."
	case "always()", "!cancelled()":
		return o.write("trigger_rule", `"all_done"`)
	case "failure()":
		return `In flowrun, write  when = "step.NAME.status == 'failed'". A step that reads the status waits until NAME has finished, however it ended.`
	}
	if not {
		inner = "!(" + inner + ")"
	}
	return o.write("when", `"`+inner+`"`)
}

func (o other) condition(not bool) string {
	if s, ok := o.str(); ok {
		return o.when(s, not)
	}
	if t := quote(o.src.Text()); t != "" && !strings.ContainsAny(t, "\"'`\\") {
		return o.when(t, not)
	}
	return ""
}

// axis is one side of a matrix.
type axis struct{ name, list string }

// axes are the sides of a matrix that is written as an object or a block.
func axes(f *syntax.File, x hclsyntax.Expression) (out []axis) {
	o, _ := x.(*hclsyntax.ObjectConsExpr)
	if o == nil {
		return nil
	}
	for _, item := range o.Items {
		name, ok := envKeyText(item.KeyExpr)
		list, isList := item.ValueExpr.(*hclsyntax.TupleConsExpr)
		if !ok || !isList || len(list.Exprs) == 0 {
			return nil
		}
		out = append(out, axis{name, f.Text(list)})
	}
	return out
}

// product says how a matrix is written.
func product(sides []axis) string {
	lists := make([]string, len(sides))
	for i, s := range sides {
		lists[i] = s.list
	}
	switch {
	case len(sides) == 0 || quote(strings.Join(lists, ", ")) == "":
		return ""
	case len(sides) == 1:
		return fmt.Sprintf("In flowrun, write  for_each = %s, and read the member as  each.value.", lists[0])
	}
	reads := make([]string, len(sides))
	for i, s := range sides {
		reads[i] = fmt.Sprintf("each.value[%d]  is %s", i, s.name)
	}
	return fmt.Sprintf("In flowrun, write  for_each = setproduct(%s):  %s.", strings.Join(lists, ", "), strings.Join(reads, ",  "))
}

func (o other) each() string {
	if o.b.Schema.Attr("for_each") == nil {
		return ""
	}
	if s := product(axes(o.src.File, o.src.Expr())); s != "" {
		return s
	}
	return product([]axis{{"", o.text("[ … ]")}})
}

// attempts writes how often something is tried.
func (o other) attempts() string {
	n, ok := o.number()
	if !ok {
		n = "N"
	}
	switch {
	case o.b.Schema.Kind == "retry":
		return o.write("max_attempts", n)
	case o.b.Schema.Kind == "parallel" && (o.src.Name == "max" || o.src.Name == "limit"):
		return o.write("max_concurrency", n)
	}
	return o.nest("retry", "max_attempts", n)
}

// lines writes several commands as one script, which ends at the first that fails.
func (o other) lines() string {
	list, _ := o.src.Expr().(*hclsyntax.TupleConsExpr)
	if list == nil {
		return ""
	}
	var all []string
	for _, x := range list.Exprs {
		s, ok := literal(x)
		if !ok || strings.ContainsAny(s, "\"\\\n") {
			return ""
		}
		all = append(all, s)
	}
	text := strings.Join(all, " && ")
	if quote(text) == "" {
		return ""
	}
	return o.write("run", `"`+text+`"`)
}

// named is about names that are attributes elsewhere.
func (o other) named() string {
	s, ok := o.str()
	label := "NAME"
	if ok && goodName(s) {
		label = s
	}
	if o.b.Schema.Label == "" {
		return ""
	}
	text := fmt.Sprintf("The label is the name:  %s %q { … }.", o.b.Schema.Kind, label)
	if o.src.Name == "name" && o.b.Schema.Attr("description") != nil {
		text += fmt.Sprintf(" For words about it write  description = %s.", o.text(`"…"`))
	}
	return text
}

// repeats writes a loop.
func (o other) repeats(not bool) string {
	if !o.b.Schema.Has("repeat") {
		return ""
	}
	text, ok := o.str()
	if !ok {
		text = "CONDITION"
	}
	if not {
		return fmt.Sprintf("In flowrun, write a  repeat  block with two lines:  max = 3  and  until = \"!(%s)\", which says when to stop.", text)
	}
	return fmt.Sprintf("In flowrun, write a  repeat  block with two lines:  max = 3  and  until = \"%s\".", text)
}

// sentence is what there is instead of a word that has no counterpart.
func (o other) sentence() string {
	text := schema.Absent[o.src.Name]
	v := o.text(`"NAME"`)
	if strings.Contains(text, "[@]") && strings.HasPrefix(v, "[") {
		return strings.Replace(text, "[@]", v, 1)
	}
	if _, ok := o.str(); !ok {
		v = `"NAME"`
	}
	return strings.Replace(text, "@", v, 1)
}

// usages are the attributes of other tools. Each function gives "" where it does not fit the block or the value.
var usages = map[string]func(other) string{}

func init() {
	for words, f := range map[string]func(other) string{ // any order: it fills a table
		"needs need requires dependencies depends after deps": other.nodes,
		"reset_timeout reset_after reset_time cooldown": func(o other) string {
			if o.b.Schema.Kind != "circuit_breaker" {
				return ""
			}
			return span("reset", "s")(o)
		},
		"threshold failure_threshold max_failures": func(o other) string { return o.inBreaker("failures") },
		"severity min_severity":                    renamed("block"),
		"on": func(o other) string {
			if o.b.Schema.Kind != "gate" {
				return ""
			}
			return "A gate of a step judges each attempt that succeeded, and a gate of an input judges its value, so leave it out. What happens when a gate does not pass:  on_fail = \"retry\"."
		},
		"trust screen": func(o other) string {
			if o.b.Schema.Kind != "input" {
				return ""
			}
			return "A gate judges the value before anything starts:  gates = [gate.NAME]. For orders to agents, the gate has  security { scan = [\"injection\"] }."
		},
		"base":                              span("base_delay", "s"),
		"max_duration maxDuration max_time": span("timeout", "s"),
		"degraded": func(o other) string {
			if o.b.Schema.Kind != "degrade" {
				return ""
			}
			return "A run says by itself that it is degraded, so leave it out."
		},
		"default_response default_output fallback_output": func(o other) string { return o.nest("degrade", "output", o.text("…")) },
		"on_timeout": func(o other) string {
			if o.b.Schema.Kind != "compete" {
				return ""
			}
			return "At the timeout, each agent hands in its work so far, so leave it out."
		},
		"if condition only_if": func(o other) string { return o.condition(false) },
		"unless":               func(o other) string { return o.condition(true) },
		"matrix strategy foreach with_items loop items": other.each,
		"count": func(o other) string {
			if n, ok := o.number(); ok && o.b.Schema.Attr("for_each") != nil {
				return product([]axis{{"", "range(" + n + ")"}})
			}
			x, ok := o.src.Expr().(*hclsyntax.ConditionalExpr)
			if !ok || o.b.Schema.Attr("when") == nil {
				return ""
			}
			if t := quote(o.src.File.Text(x.Condition)); t != "" && !strings.ContainsAny(t, "'`\\$") {
				return o.when(strings.ReplaceAll(t, `"`, "'"), o.src.File.Text(x.TrueResult) == "0")
			}
			return ""
		},
		"retries max_retries attempts max_attempts max limit tries maximum_attempts": other.attempts,
		"usd dollars cost": renamed("cost_usd"),
		"max_tokens": func(o other) string {
			if n, ok := o.number(); ok {
				return o.nest("budget", "tokens", n)
			}
			return ""
		},
		"cancel-in-progress cancel_in_progress": func(o other) string {
			if on, ok := flag(o.src.Expr()); ok && !on && o.b.Schema.Kind == "concurrency" {
				return "A second run of the group waits for its turn, so leave it out."
			}
			return o.write("when_busy", `"cancel_previous"`)
		},
		"fail_fast fail-fast failfast": func(o other) string {
			if on, ok := flag(o.src.Expr()); ok && !on && o.b.Schema.Attr("on_error") != nil {
				return "When one instance fails, the others continue, so leave it out."
			}
			return o.write("on_error", `"stop"`)
		},
		"options values choices allowed_values one_of allowed": renamed("enum"),
		"ephemeral secret":            func(o other) string { return o.write("sensitive", "true") },
		"error_message":               renamed("message"),
		"every interval":              func(o other) string { return cmp.Or(o.inLoop("idle"), span("base_delay", "s")(o)) },
		"sources source":              func(o other) string { return o.sources() },
		"handler on_item":             func(o other) string { return o.handle() },
		"schedule cron cron_schedule": func(o other) string { return cmp.Or(o.write("cron", o.text(`"0 2 * * *"`)), o.routine()) },
		"skills":                      renamed("capabilities"),
		"schema output_schema":        func(o other) string { return o.write("output", "object({ NAME = TYPE })") },
		"api_key apikey apiKey": func(o other) string {
			if _, ok := o.str(); ok {
				return o.write("key_env", `"NAME"`) + " The variable NAME of the environment then has the key, and the file does not."
			}
			return o.write("key", o.text("var.NAME"))
		},
		"message text question body": func(o other) string { return cmp.Or(o.asks(), o.says()) },
		"description": func(o other) string {
			if o.b.Schema.Kind == "agent" {
				return "The text at the beginning of each of its tasks is  soul = " + o.text("…") + ". For people, write a comment:  # …"
			}
			return o.asks()
		},
		"budget": func(o other) string {
			if o.b.Schema.Kind != "agent" {
				return ""
			}
			return "A step has it:  budget { cost_usd = 5 }."
		},
		"deadline": func(o other) string { return o.write("timeout", o.text(`"1h"`)) },
		"path file db dir": func(o other) string {
			if o.b.Schema.Kind != "memory" {
				return ""
			}
			return "The memory is a file of the store,  memory.db. To share it between repositories, name a folder:  store = \"FOLDER\"."
		},
		"enabled": func(o other) string {
			if o.b.Schema.Kind != "memory" {
				return ""
			}
			return "The block turns the memory on, so leave it out."
		},
		"triggers": func(o other) string {
			if o.b.Schema.Kind != "step" {
				return ""
			}
			return "A step runs in each run of its workflow, so leave it out. For a condition, write  when = \"CONDITION\"."
		},
		"json payload": renamed("body"),
		"channel":      func(o other) string { return o.write("to", "[channel.NAME]") },
		"from by users user reviewers assignees who": func(o other) string {
			if o.b.Schema.Kind != "approve" {
				return ""
			}
			if t := o.text(`["NAME"]`); strings.HasPrefix(t, "[") {
				return o.write("approvers", t)
			}
			return o.write("approvers", "["+o.text(`"NAME"`)+"]")
		},
		"args arguments": func(o other) string { return o.moreWords("") },
		"concurrency": func(o other) string {
			s, ok := o.str()
			if !ok || o.b.Schema.Attr("max_concurrency") == nil {
				return ""
			}
			return fmt.Sprintf("The workflow has it, for one run at a time:  concurrency { group = %q }.", s)
		},
		"start_to_close_timeout execution_timeout": span("timeout", "s"),
		"schedule_to_close_timeout":                func(o other) string { return o.nest("deadline", "after", o.text(`"1h"`)) },
		"for seconds minutes": func(o other) string {
			if o.b.Schema.Kind != "wait" {
				return ""
			}
			return span("duration", o.src.Name[:1])(o)
		},
		"signal": renamed("event"),
		"wait_for_signal wait_for_event await_signal wait_signal": func(o other) string { return o.nest("wait", "event", o.text(`"NAME"`)) },
		"non_retryable_errors non_retryable_error_types":          func(o other) string { return o.write("when", `"error.exit_code != 2"`) },
		"maximum_interval": span("max_delay", "s"),
		"times": func(o other) string {
			if n, ok := o.number(); ok {
				return o.nest("repeat", "max", n)
			}
			return ""
		},
		"continue-on-error continue_on_error allow_failure ignore_errors": func(o other) string {
			if on, ok := flag(o.src.Expr()); ok && on {
				return o.write("on_error", `"continue"`)
			}
			return ""
		},
		"on_failure on-failure on_fail": func(o other) string {
			if s, ok := o.str(); ok && slices.Contains([]string{"continue", "stop", "block"}, s) {
				return o.write("on_error", o.src.Text())
			}
			return ""
		},
		"script bash shell_command command cmd exec":                        renamed("run"),
		"working-directory working_directory workdir cwd chdir working_dir": renamed("dir"),
		"interpreter":             renamed("shell"),
		"cmds commands":           other.lines,
		"title desc help summary": func(o other) string { return cmp.Or(o.write("description", o.text("…")), o.asks()) },
		"timeout-minutes timeout_minutes timeoutMinutes": span("timeout", "m"),
		"timeout_seconds timeoutSeconds timeout-seconds": span("timeout", "s"),
		"delay initial_interval":                         span("base_delay", "s"),
		"backoff backoff_coefficient": func(o other) string {
			if n, ok := o.number(); ok {
				return o.write("multiplier", n)
			}
			return ""
		},
		"sleep": func(o other) string {
			if n, ok := o.number(); ok {
				return o.nest("wait", "duration", fmt.Sprintf("%q", n+"s"))
			}
			return o.nest("wait", "duration", o.text(`"5s"`))
		},
		"environment envs variables": func(o other) string {
			if _, ok := o.src.Expr().(*hclsyntax.ObjectConsExpr); ok {
				return o.write("env", o.text("{ … }"))
			}
			return ""
		},
		"prompt instructions system_prompt system": func(o other) string {
			if o.b.Schema.Kind == "agent" {
				return o.write("soul", o.text("…"))
			}
			return o.write("task", o.text("…"))
		},
		"inputs params parameters":              renamed("with"),
		"parallelism max_parallel max-parallel": renamed("max_concurrency"),
		"rollback undo":                         func(o other) string { return o.nest("compensate", "run", o.text("…")) },
		"name id":                               other.named,
		"while":                                 func(o other) string { return o.repeats(true) },
		"until until_ok stop_when": func(o other) string {
			if s := o.b.Schema; s.Attr("accept") != nil {
				return o.write("accept", o.text("\"review.output.ok\""))
			}
			return o.repeats(false)
		},
		"workflow": func(o other) string { return cmp.Or(o.handle(), o.write("call", o.text("workflow.NAME"))) },
		"model":    func(o other) string { return o.moreWords("--model") },
		"type": func(o other) string {
			if s, ok := o.str(); ok && o.b.Schema.Kind == "step" && s != "" {
				return agentProgram(s, "A step names an agent,  agent = agent.NAME. ")
			}
			return ""
		},
	} {
		for _, w := range strings.Fields(words) {
			usages[w] = f
		}
	}
}

// inBreaker is the same value in another attribute of a circuit breaker.
func (o other) inBreaker(attr string) string {
	if o.b.Schema.Kind != "circuit_breaker" {
		return ""
	}
	return renamed(attr)(o)
}

// asks writes the question of an approval.
func (o other) asks() string {
	if o.b.Schema.Kind != "approve" {
		return ""
	}
	return o.write("prompt", o.text("…"))
}

// says writes the text of a message.
func (o other) says() string {
	if o.b.Schema.Kind != "notify" {
		return ""
	}
	return o.write("text", o.text("…"))
}

// inLoop is a duration of a loop.
func (o other) inLoop(attr string) string {
	if o.b.Schema.Kind != "loop" {
		return ""
	}
	return span(attr, "s")(o)
}

// sources writes the kinds of work of a loop as blocks.
func (o other) sources() string {
	if !o.b.Schema.Has("source") {
		return ""
	}
	return "Each source is a block:  source \"dispatch\" {}  or  source \"roadmap\" { path = \"ROADMAP.md\" }."
}

// handle says which workflow a loop starts.
func (o other) handle() string {
	return o.nest("handle", "workflow", "workflow.NAME")
}

// routine says what starts by the clock, where something else has a schedule.
func (o other) routine() string {
	if o.b.Schema.Kind == "workflow" {
		return fmt.Sprintf("A routine starts a workflow on a schedule. At the top of the file, write  routine \"NAME\" { … }  with  cron = %s  and  workflow = workflow.%s.", o.text(`"0 2 * * *"`), o.b.Name)
	}
	if o.b.Schema.Kind != "on" {
		return ""
	}
	return fmt.Sprintf("Events start a workflow. For a schedule, write  routine %q { … }  with  cron = %s  and  workflow = workflow.NAME.", cmp.Or(o.b.Name, "NAME"), o.text(`"0 2 * * *"`))
}

// moreWords writes words of an agent's command at its end, after a flag unless that is "".
func (o other) moreWords(flag string) string {
	command := o.b.Src.Body.Attr("command")
	if o.b.Schema.Kind != "agent" || command == nil || quote(command.Text()+o.src.Text()) == "" {
		return ""
	}
	list, ok := strings.CutSuffix(strings.TrimSpace(command.Text()), "]")
	if !ok {
		return ""
	}
	if flag != "" {
		return fmt.Sprintf("The program takes it. In flowrun, write  command = %s, %q, %s].", list, flag, o.src.Text())
	}
	words := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(o.src.Text()), "["), "]")
	return fmt.Sprintf("In flowrun, write  command = %s, %s].", list, strings.TrimSpace(words))
}

// counterpart says what stands for an attribute of another tool, or "".
func counterpart(b *Block, src *syntax.Attr) string {
	o := other{b, src}
	if f := usages[src.Name]; f != nil {
		if s := f(o); s != "" {
			return s
		}
	}
	if schema.Absent[src.Name] != "" {
		return o.sentence()
	}
	return ""
}

// agentPrograms are coding agents by the words that name them, as the protocol's page has them.
var agentPrograms = []struct{ word, preset, command string }{
	{"claude", "claude", `["claude", "-p", "--output-format", "json"]`}, {"anthropic", "claude", `["claude", "-p", "--output-format", "json"]`},
	{"codex", "codex", `["codex", "exec", "--json", "-"]`}, {"openai", "codex", `["codex", "exec", "--json", "-"]`},
	{"gemini", "gemini", `["gemini", "--output-format", "json"]`},
}

// agentProgram says how an agent of a known kind is started, or "".
func agentProgram(kind, before string) string {
	for _, p := range agentPrograms {
		if strings.Contains(strings.ToLower(kind), p.word) {
			return fmt.Sprintf("%sIn the agent, write  preset = %q  in place of type, or start the program yourself:  type = \"exec\"  and  command = %s. See flowrun explain protocol.", before, p.preset, p.command)
		}
	}
	return ""
}

// counterBlock says what stands for a block of another tool inside a block of a schema, or "".
func counterBlock(src *syntax.Block, s *schema.Block, where string) string {
	label := "NAME"
	if n := len(src.Labels); n > 0 && goodName(src.Labels[n-1].Text) {
		label = src.Labels[n-1].Text
	}
	holdsNodes := false
	for _, b := range src.Body.Blocks {
		holdsNodes = holdsNodes || slices.Contains(schema.Nodes, b.Kind)
		for _, inner := range b.Body.Blocks {
			holdsNodes = holdsNodes || b.Kind == "steps" && slices.Contains(schema.Nodes, inner.Kind)
		}
	}
	attr := func(name string) *syntax.Attr { return src.Body.Attr(name) }
	switch src.Kind {
	case "job", "jobs", "stage", "stages", "phase", "steps", "tasks", "task", "activity", "resource", "provisioner":
		switch {
		case src.Kind == "provisioner":
			return schema.Absent[src.Kind]
		case s.Has("workflow"):
			if src.Kind == "resource" || !holdsNodes && src.Kind == "task" {
				return fmt.Sprintf("In flowrun, work is a step of a workflow:  step %q { run = … }  inside  workflow \"NAME\" { … }.", label)
			}
			return fmt.Sprintf("A workflow holds steps. In flowrun, write  workflow %q { … }.", label)
		case s.Has("sequence") && (holdsNodes || strings.HasPrefix(src.Kind, "stage")):
			return fmt.Sprintf("It has several steps, one after the other. In flowrun, write  sequence %q { … }.", label)
		case s.Has("step"):
			return fmt.Sprintf("In flowrun, write  step %q { … }.", label)
		}
	case "human", "approval", "manual":
		inside := "approve { … }"
		for _, name := range []string{"prompt", "message", "title", "text"} {
			if a := attr(name); a != nil && quote(a.Text()) != "" {
				inside = fmt.Sprintf("approve { prompt = %s }", a.Text())
			}
		}
		return inStep(s, label, "approve", inside)
	case "timer", "sleep":
		inside := "wait { duration = \"1h\" }"
		for _, name := range []string{"duration", "for", "after", "delay"} {
			if a := attr(name); a != nil && quote(a.Text()) != "" {
				inside = fmt.Sprintf("wait { duration = %s }", a.Text())
			}
		}
		return inStep(s, label, "wait", inside)
	case "signal":
		return inStep(s, label, "wait", fmt.Sprintf("wait { event = %q }", label))
	case "retry_policy":
		n := "N"
		for _, name := range []string{"maximum_attempts", "max_attempts", "attempts", "max"} {
			if a := attr(name); a != nil && quote(a.Text()) != "" {
				n = a.Text()
			}
		}
		if s.Has("retry") {
			return fmt.Sprintf("In flowrun, write  retry { max_attempts = %s }. It can have base_delay, multiplier and max_delay, too.", n)
		}
	case "on_failure", "on_error", "rescue", "catch", "on-failure":
		if !s.Has("compensate") {
			return ""
		}
		run := "…"
		if a := attr("run"); a != nil && quote(a.Text()) != "" {
			run = a.Text()
		}
		return fmt.Sprintf("To undo what a node has done when the run fails or is cancelled, write in it  compensate { run = %s }. To do something else after its failure, write a step with  when = \"%s.status == 'failed'\".", run, stepOf(where))
	case "strategy", "matrix":
		if s.Attr("for_each") == nil {
			return ""
		}
		var sides []axis
		body := &src.Body
		if m := attr("matrix"); m != nil {
			sides = axes(src.File, m.Expr())
		}
		for i := range src.Body.Blocks {
			if src.Body.Blocks[i].Kind == "matrix" {
				body = &src.Body.Blocks[i].Body
			}
		}
		if src.Kind == "matrix" || body != &src.Body {
			for _, a := range body.Attrs {
				if list, ok := a.Expr().(*hclsyntax.TupleConsExpr); ok {
					sides = append(sides, axis{a.Name, src.File.Text(list)})
				}
			}
		}
		return product(sides)
	case "loop", "while", "until", "for", "repeat":
		if max := attr("max"); max != nil && s.Has("repeat") && quote(max.Text()) != "" {
			return fmt.Sprintf("In flowrun, write  repeat { max = %s }.", max.Text())
		}
		if s.Has("sequence") && !s.Has("workflow") {
			return fmt.Sprintf("In flowrun, write  sequence %q { … }  with  repeat { max = 3 }  in it, and steps. A second line in repeat,  until = \"CONDITION\", ends the repetition.", label)
		}
		if s.Has("repeat") {
			return "In flowrun, write  repeat { max = 3 }. A second line in it,  until = \"CONDITION\", ends the repetition."
		}
	case "schedule", "cron":
		if s.Has("routine") {
			cron := `"0 2 * * *"`
			if a := attr("cron"); a != nil && quote(a.Text()) != "" {
				cron = a.Text()
			}
			return fmt.Sprintf("In flowrun, write  routine %q { … }  with  cron = %s  and  workflow = workflow.NAME.", label, cron)
		}
	case "precondition", "assert":
		if s.Has("require") {
			return "In flowrun, write  require { condition = \"CONDITION\" }."
		}
	case "postcondition":
		if s.Has("gate") {
			return "In flowrun, write  gate \"NAME\" { check = \"CONDITION\" }. It reads the output of its step as  result.output."
		}
	case "local-exec", "local_exec", "shell", "script", "command":
		if a := attr("command"); a != nil && s.Attr("run") != nil && quote(a.Text()) != "" {
			return fmt.Sprintf("In flowrun, write  run = %s.", a.Text())
		}
	case "on_item", "each_item", "work", "handler":
		if s.Has("handle") {
			return "In flowrun, write  handle { workflow = workflow.NAME }. A second line in it,  with = { title = item.title }, gives the inputs."
		}
	case "slack", "email", "mail", "teams", "discord", "pagerduty":
		if s.Has("notify") {
			return "In flowrun, write a  notify  block with two lines:  to = [channel.NAME]  and  text = \"…\". The file declares the  channel \"NAME\" { … }."
		}
	case "on_unavailable", "fallback":
		if s.Has("degrade") {
			output := "…"
			if a := attr("output"); a != nil && quote(a.Text()) != "" {
				output = a.Text()
			}
			return fmt.Sprintf("In flowrun, write  degrade { output = %s }. To ask another agent first, write  fallback = [agent.NAME].", output)
		}
	case "progress":
		if s.Has("deadline") {
			return "In flowrun, write a block  deadline  with two lines:  after = \"1h\"  and  progress = [25, 50, 75]."
		}
	case "worker", "manager":
		if s.Has("agent") {
			return fmt.Sprintf("In flowrun, write  agent %q { … }.", label)
		}
	case "breaker":
		if s.Has("quota") {
			return fmt.Sprintf("In flowrun, write  quota %q { … }  with  circuit_breaker { failures = 5 reset = \"30s\" }  in it, or the circuit_breaker in an agent.", label)
		}
	case "publish":
		if s.Has("emit") {
			return "In flowrun, write  emit { event = \"NAME\" }. For each event, a block at the top of the file starts a run:  on \"NAME\" { workflow = workflow.NAME }."
		}
	case "secret":
		if s.Has("variable") {
			return fmt.Sprintf("In flowrun, write  variable %q { … }  with  type = string  and  sensitive = true.", label)
		}
	case "data":
		if s.Has("step") || s.Has("workflow") {
			return fmt.Sprintf("A step of a workflow reads from outside:  step %q  with  http { url = \"…\" }  or  run = \"…\". Other steps read  step.%s.output.", label, label)
		}
	}
	return strings.Replace(schema.Absent[src.Kind], "@", fmt.Sprintf("%q", label), 1)
}

// inStep says to write a block inside of a step, where a block of a schema takes steps and not the block itself.
func inStep(s *schema.Block, label, kind, inside string) string {
	if !s.Has("step") || !schema.Blocks["step"].Has(kind) {
		return ""
	}
	return fmt.Sprintf("A step holds it. Write  step %q { … }  with  %s  in it.", label, inside)
}

// inOneLine is a block as a hint repeats it: without its label, and with its attribute if it has one alone.
func inOneLine(src *syntax.Block) string {
	if len(src.Body.Attrs) == 1 && len(src.Body.Blocks) == 0 {
		if a := src.Body.Attrs[0]; quote(a.Text()) != "" {
			return fmt.Sprintf("%s { %s = %s }", src.Kind, a.Name, a.Text())
		}
	}
	return src.Kind + " { … }"
}

var stepWords = lazyregexp.New(`^[a-z]+ "([^"]+)"$`)

// stepOf names the node that a block's words are about.
func stepOf(where string) string {
	if m := stepWords().FindStringSubmatch(where); m != nil {
		return "step." + m[1]
	}
	return "step.NAME"
}

// asObject writes the attributes of a block as an object.
func asObject(src *syntax.Block) string {
	var parts []string
	for _, a := range src.Body.Attrs {
		parts = append(parts, a.Name+" = "+a.Text())
	}
	text := "{ " + strings.Join(parts, ", ") + " }"
	if len(parts) == 0 {
		return ""
	}
	return quote(text)
}

// asBlock shows a block whose first attribute, or the first that takes a number, has the value that was given to the block itself.
func asBlock(b *schema.Block, src *syntax.Attr) string {
	x := src.Expr()
	_, isText := literal(x)
	_, isNumber := other{nil, src}.number()
	if quote(src.Text()) == "" {
		return written(b)
	}
	i := slices.IndexFunc(b.Attrs, func(a schema.Attr) bool {
		switch a.Kind {
		case schema.Text, schema.Condition, schema.Duration:
			return isText
		case schema.Command:
			_, isList := x.(*hclsyntax.TupleConsExpr)
			return isText || isList
		case schema.Value:
			return a.Want.Kind == value.StringT && isText || a.Want.Kind == value.NumberT && isNumber
		}
		return false
	})
	if i < 0 || i > 0 && !isNumber || b.Attrs[i].Later != nil {
		return written(b)
	}
	first := b.Attrs[i]
	kind := b.Kind
	if b.Label != "" {
		kind += ` "NAME"`
	}
	return fmt.Sprintf("%s { %s = %s }", kind, first.Name, src.Text())
}

var spoken = lazyregexp.New(`(?i)(\d+(?:\.\d+)?)\s*(milliseconds?|millis|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d)(?:\s*(?:,|and\b)?\s*)`)

// spokenDuration writes a duration that is said in words, such as "10 minutes", as flowrun does, or gives "".
func spokenDuration(text string) string {
	rest, out := strings.TrimSpace(text), ""
	for rest != "" {
		m := spoken().FindStringSubmatchIndex(rest)
		if m == nil || m[0] != 0 {
			return ""
		}
		n, unit := rest[m[2]:m[3]], strings.ToLower(rest[m[4]:m[5]])
		switch {
		case strings.HasPrefix(unit, "ms") || strings.HasPrefix(unit, "milli"):
			out += n + "ms"
		default:
			out += n + unit[:1]
		}
		rest = rest[m[1]:]
	}
	if _, err := value.ParseDuration(out); err != nil {
		return ""
	}
	return out
}

var namePath = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_*][A-Za-z0-9_-]*|\[[^\]\n]{0,60}\])*`)

// pathAt is the name with points that stands at a place of a file, in its parts.
func pathAt(f *syntax.File, at int) []string {
	text := string(namePath().Find(f.Src[min(at, len(f.Src)):]))
	if text == "" {
		return []string{""}
	}
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`.["']`, r) })
}

// commandWords splits a command line as a shell does that knows quotes alone, or gives nothing where there is more to it.
func commandWords(line string) (out []string) {
	if strings.ContainsAny(line, "$`|&;<>(){}*?\\\n") {
		return nil
	}
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		if q := rest[0]; q == '\'' || q == '"' {
			end := strings.IndexByte(rest[1:], q)
			if end < 0 {
				return nil
			}
			out, rest = append(out, rest[1:1+end]), rest[end+2:]
			continue
		}
		end := strings.IndexAny(rest, " \t")
		if end < 0 {
			end = len(rest)
		}
		if strings.ContainsAny(rest[:end], `"'`) {
			return nil
		}
		out, rest = append(out, rest[:end]), rest[end:]
	}
	return out
}

// quotedWords writes words as a list.
func quotedWords(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// declared is how an expression reads a name that the program declares, or "".
func (c *checker) declared(name string) string {
	isName := func(d *Decl) bool { return d.Name == name }
	if slices.ContainsFunc(c.program.Workflows, func(w *Workflow) bool { return slices.ContainsFunc(w.Inputs, isName) }) {
		return "input." + name
	}
	if slices.ContainsFunc(c.program.Variables, isName) {
		return "var." + name
	}
	if slices.ContainsFunc(c.program.Locals, func(a *Attr) bool { return a.Src.Name == name }) {
		return "local." + name
	}
	if slices.ContainsFunc(c.program.Workflows, func(w *Workflow) bool { return w.ByName[name] != nil }) {
		return "step." + name + ".output"
	}
	return ""
}

// namedElsewhere says of a name that flowrun does not have what stands for it where another tool has it.
func (c *checker) namedElsewhere(d *diag.Diagnostic) {
	switch d.Code {
	case "F0228", "F0301", "F0303", "F0304", "F0305", "F0310":
	default:
		if d.Summary != "file needs a literal path" {
			return
		}
	}
	i := slices.IndexFunc(c.sources, func(f *syntax.File) bool { return f.Name == d.Subject.File })
	if i < 0 {
		return
	}
	f, at := c.sources[i], d.Subject.Start.Byte
	if m := inModule().FindSubmatch(f.Src[min(at, len(f.Src)):]); m != nil {
		d.Detail = fmt.Sprintf("Paths begin in the folder of the program. Write  file(\"%s\").", m[1])
		return
	}
	path := pathAt(f, at)
	switch d.Code {
	case "F0310":
		if strings.HasPrefix(d.Summary, "Unknown member .") && bytes.Contains(f.Src, []byte("GITHUB_OUTPUT")) {
			d.Detail = "A script writes its output as lines NAME=VALUE to the file $FLOWRUN_OUTPUT. The script here writes to $GITHUB_OUTPUT, which flowrun does not read."
		} else if strings.HasSuffix(string(f.Src[lineStart(f.Src, at):at]), "each.value.") {
			c.memberOfMember(d, f)
		}
	case "F0301":
		if at < len(f.Src) && f.Src[at] == '$' {
			if read := c.declared(pathAt(f, at+1)[0]); read != "" {
				d.Detail = fmt.Sprintf("Names have no $. Write  %s.", read)
				return
			}
			name := cmp.Or(pathAt(f, at+1)[0], "NAME")
			d.Detail = fmt.Sprintf("A condition reads no environment. Declare a variable,  variable %q { type = string }, give it with --var or FLOWRUN_VAR_%s, and read  var.%s.", name, name, name)
			return
		}
		if declared := strings.Contains(d.Detail, "Did you mean ") && !strings.Contains(d.Detail, `Did you mean "`); declared {
			ofOthers := slices.Equal(path, []string{"count", "index"}) || len(path) == 2 && path[0] == "env" && path[1] == strings.ToUpper(path[1])
			if !ofOthers { // else an input or a step happens to have the name
				return
			}
		}
		if other := schema.OtherName(path); other != "" {
			d.Detail = other
		}
		if path[0] == "output" && strings.Contains(d.Detail, " result,") {
			d.Detail = fmt.Sprintf("Write  result.%s.", strings.Join(path, "."))
		}
	case "F0305":
		isNode := func(w *Workflow) bool { return len(path) > 1 && w.ByName[path[1]] != nil }
		if path[0] == "last" && slices.ContainsFunc(c.program.Workflows, isNode) {
			d.Summary, d.Detail = "last.step is missing its step", fmt.Sprintf("Write  last.step.%s.", strings.Join(path[1:], "."))
		}
	case "F0304":
		if path[0] == "item" {
			if len(c.program.Loops) > 0 || !bytes.Contains(f.Src, []byte("for_each")) {
				d.Detail += " The member of a for_each is  each.value."
			} else {
				d.Detail = "The member of a for_each is  each.value. (item is the item of a loop.)"
			}
		}
	case "F0303":
		c.resultElsewhere(d, f)
	case "F0228":
		c.memberNotText(d, f, path)
	}
}

// resultAttrs are words of other tools for what a result has.
var resultAttrs = map[string]string{
	"outcome": "status", "conclusion": "status", "state": "status", "success": "status", "succeeded": "status", "failed": "status", "skipped": "status", "cancelled": "status", "done": "status", "ok": "status",
	"code": "exit_code", "rc": "exit_code", "exitcode": "exit_code", "exitCode": "exit_code", "return_code": "exit_code", "returncode": "exit_code",
	"value": "output", "values": "output", "out": "output", "data": "output", "json": "output", "body": "output", "text": "output", "message": "error", "errors": "error", "logs": "stdout", "log": "stdout",
}

// errorAttrs are words of other tools for what an error has.
var errorAttrs = map[string]string{
	"text": "message", "msg": "message", "description": "message", "details": "message", "stderr": "message", "stdout": "message", "output": "message", "logs": "message", "log": "message",
	"code": "exit_code", "rc": "exit_code", "exitcode": "exit_code", "exitCode": "exit_code", "return_code": "exit_code", "returncode": "exit_code", "type": "kind", "class": "kind", "category": "kind",
}

// resultOnly are attributes of a result that an error does not have.
var resultOnly = map[string]bool{"stderr": true, "stdout": true, "output": true, "logs": true, "log": true}

// aboutFailure is the context of a rule about a failed attempt.
var aboutFailure = lazyregexp.New(`^(retry|classify|circuit_breaker|rule|level)\b`)

var indexedStep = lazyregexp.New(`step\.([A-Za-z_][A-Za-z0-9_-]*)$`)

// startsIndex matches the text of an index: [0], .0 or ["x"]; in a condition the text begins after the bracket.
var startsIndex = lazyregexp.New(`^[\[.]?(\d+|["'][^"']*["'])\]?$`)

// resultElsewhere is about a result that does not have an attribute.
func (c *checker) resultElsewhere(d *diag.Diagnostic, f *syntax.File) {
	at := d.Subject.Start.Byte
	text := string(f.Src[at:min(d.Subject.End.Byte, len(f.Src))])
	before := bytes.TrimSuffix(f.Src[lineStart(f.Src, at):at], []byte("["))
	if m, key := indexedStep().FindSubmatch(before), startsIndex().FindStringSubmatch(text); m != nil && key != nil {
		name, key := string(m[1]), strings.Trim(key[1], `"'`)
		for _, w := range c.program.Workflows {
			n := w.ByName[name]
			if n == nil || n.attr("for_each") == nil {
				continue
			}
			index := fmt.Sprintf("%q", key)
			if e := n.Expr("for_each"); e != nil && (e.Type.Kind == value.ListT || e.Type.Kind == value.TupleT) {
				index = key
			}
			d.Detail = fmt.Sprintf("Its instances are inside of its results: write  step.%s.output[%s], or  step.%s.instances[%s]  for the full result of one.", name, index, name, index)
			return
		}
		return
	}
	if m := indexedStep().FindSubmatch(bytes.TrimSuffix(f.Src[lineStart(f.Src, at):at], []byte("."))); m != nil {
		for _, w := range c.program.Workflows {
			n := w.ByName[string(m[1])]
			if n == nil || n.attr("output") == nil || n.attr("output").Type == nil {
				continue
			}
			if _, ok := n.attr("output").Type.Attrs[text]; ok {
				d.Detail = fmt.Sprintf("The output has it. Write  step.%s.output.%s.", n.Name, text)
				return
			}
		}
	}
	if before := string(f.Src[lineStart(f.Src, at):at]); strings.HasSuffix(before, "review.") || strings.HasSuffix(before, "product.") {
		root := before[strings.LastIndexAny(before[:len(before)-1], " \"'(!&|=")+1:]
		d.Detail = fmt.Sprintf("The answer of the agent is  %soutput. Write  %soutput.%s.", root, root, text)
		return
	}
	if before := string(f.Src[lineStart(f.Src, at):at]); strings.HasSuffix(before, "result.") && aboutFailure().MatchString(d.Context) {
		d.Detail = "A failed attempt has no output. result has exit_code, stdout and stderr here; the rest of the failure is in  error."
		return
	}
	if before := string(f.Src[lineStart(f.Src, at):at]); strings.HasSuffix(before, "result.") && !strings.Contains(d.Detail, "Did you mean") && (text == "ok" || resultAttrs[text] == "") {
		d.Detail = fmt.Sprintf("The answer is  result.output. Write  result.output.%s.", text)
		return
	}
	if before := string(f.Src[lineStart(f.Src, at):at]); strings.HasSuffix(before, "error.") {
		switch meant := errorAttrs[text]; {
		case meant == "":
		case resultOnly[text]:
			d.Detail = "error does not have what a program wrote. when of retry and classify, and the rules and levels of an escalation, read it as  result.stderr  and  result.stdout. The error that an agent gives is  error.message."
		default:
			d.Detail = fmt.Sprintf("Did you mean %q?", meant)
		}
		return
	}
	known := strings.Contains(d.Detail, "exit_code") || strings.Contains(d.Detail, "Did you mean")
	switch meant := resultAttrs[text]; {
	case !known:
	case text == "result":
		d.Detail = "Did you mean \"output\", the result of the node, or \"status\", its end?"
	case meant == "status":
		d.Detail = "Did you mean \"status\"? It is 'succeeded', 'failed', 'skipped', 'blocked' or 'cancelled' when the node has ended."
	case meant != "":
		d.Detail = fmt.Sprintf("Did you mean %q? %s", meant, d.Detail)
	}
}

func lineStart(src []byte, at int) int {
	return strings.LastIndexByte(string(src[max(0, at-1000):at]), '\n') + 1 + max(0, at-1000)
}

var inModule = lazyregexp.New(`^file\("\$\{path\.\w+\}/([^"$]{1,100})"\)`)

// aroundEach is the node with for_each around a finding, or nil.
func (c *checker) aroundEach(d *diag.Diagnostic, f *syntax.File) (around *Node) {
	for _, w := range c.program.Workflows {
		for _, n := range w.All {
			if at := n.Src; at.File == f && n.attr("for_each") != nil && at.Range.Start.Byte <= d.Subject.Start.Byte && d.Subject.Start.Byte < int(at.End) {
				around = n
			}
		}
	}
	return around
}

// memberOfMember is about a member of each.value that it does not have.
func (c *checker) memberOfMember(d *diag.Diagnostic, f *syntax.File) {
	around := c.aroundEach(d, f)
	if around == nil {
		return
	}
	if s := product(axes(f, around.attr("for_each").Src.Expr())); s != "" {
		d.Detail = "for_each goes over the members of the object, and each of them is a list. " + s
	} else if strings.HasPrefix(d.Detail, "This is a string.") {
		d.Detail = "each.value is the member itself, and it is a string."
	}
}

// memberNotText is about a member of a for_each that cannot become text.
func (c *checker) memberNotText(d *diag.Diagnostic, f *syntax.File, path []string) {
	if path[0] != "each" {
		return
	}
	if len(path) == 1 {
		d.Detail = "each has two parts. Write  each.value  for the member, or  each.key  for its key or number."
		return
	}
	around := c.aroundEach(d, f)
	if around == nil || path[1] != "value" || len(path) > 2 {
		return
	}
	if s := product(axes(f, around.attr("for_each").Src.Expr())); s != "" {
		d.Detail = "for_each goes over the members of the object, and each of them is a list. " + s
	}
}
