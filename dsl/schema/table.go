package schema

import "github.com/flowrun/flowrun/dsl/value"

// The bounds of numbers in a file.
const (
	MaxConcurrency = 10000
	MaxAttempts    = 1000
	MaxMultiplier  = 100
)

// Attributes that several kinds of block have.
var (
	when = Attr{Name: "when", Kind: Condition, Doc: "Runs the node only if this holds; else it is skipped and its output is null."}
	deps = Attr{Name: "depends_on", Kind: Refs, RefKind: "step", Doc: "Nodes that must succeed before this one starts, besides those that its expressions read."}
	each = Attr{Name: "for_each", Kind: Value, Want: value.AnyType, Doc: "Makes an instance of the node for each member of a list, set or map."}
	par  = Attr{Name: "max_concurrency", Kind: Value, Want: value.IntType, Min: 1, Max: MaxConcurrency, Doc: "How many attempts may be live at once below this node."}
	env  = Attr{Name: "env", Kind: Env, Doc: "Environment variables; the nearest block that sets a name wins."}
	dir  = Attr{Name: "dir", Kind: Value, Want: value.StringType, Default: "the program's folder", Doc: "Working folder, relative to the program's folder."}
	sh   = Attr{Name: "shell", Kind: Word, Words: []string{"sh", "bash"}, Default: `"sh"`, Doc: "Shell for scripts: sh -e, or bash -eo pipefail."}
	desc = Attr{Name: "description", Kind: Text, Doc: "What it is for, in a sentence."}
	typ  = Attr{Name: "type", Kind: Type, Default: "any", Doc: "Type that every value of it must have."}
	deft = Attr{Name: "default", Kind: Value, Want: value.AnyType, Doc: "Value where none is given; without it, one must be given."}
	time = Attr{Name: "timeout", Kind: Duration, Doc: "Longest time for one attempt, without queueing and gates."}
	span = Attr{Name: "timeout", Kind: Duration, Doc: "Longest time from the first start of a node inside."}
	gate = Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge each attempt's result, in order."}
)

func later(names ...string) (out []Attr) {
	for _, n := range names {
		out = append(out, Attr{Name: n, Doc: "In the language; not carried out by this release.", Later: true})
	}
	return out
}

func attrs(lists ...any) (out []Attr) {
	for _, l := range lists {
		switch l := l.(type) {
		case Attr:
			out = append(out, l)
		case []Attr:
			out = append(out, l...)
		}
	}
	return out
}

var (
	nodeLater  = later("trigger_rule", "on_error", "on_lost", "fallback", "escalate", "quota", "priority")
	groupLater = later("join", "losers", "gates", "output")
	blockLater = []string{"repeat", "deadline", "compensate", "degrade", "budget", "require"}
)

// Blocks holds every kind of block. "file" is the top of a program.
var Blocks = map[string]*Block{
	"file": {Doc: "The top of a program.", Blocks: []string{"variable", "locals", "agent", "gate", "workflow",
		"flowrun", "pool", "escalation", "channel", "quota", "routine", "on", "loop", "memory", "library"}},

	"variable": {Label: "name", Doc: "A value that is given from outside and read as var.NAME.", Blocks: []string{"validation"},
		Attrs: attrs(typ, deft, desc, later("sensitive", "enum"))},
	"input": {Label: "name", Doc: "A value that a run of the workflow is given, read as input.NAME.", Blocks: []string{"validation"},
		Attrs: attrs(typ, deft, desc, later("sensitive", "enum"))},
	"locals": {Doc: "Named expressions over variables and other locals, read as local.NAME.", Free: true},

	"agent": {Label: "name", Doc: "Somebody or something that does tasks.",
		Blocks: []string{"retry", "circuit_breaker", "rate_limit", "resources"},
		Attrs: attrs(
			Attr{Name: "type", Kind: Word, Words: []string{"exec", "shell", "null"}, Required: true, Doc: "How the agent is spoken to: a program with flowrun's JSON protocol, a shell script, or nothing at all (returns what it was given)."},
			Attr{Name: "command", Kind: Value, Want: value.AnyType, Doc: "Program and arguments of an exec agent."},
			Attr{Name: "run", Kind: Value, Want: value.StringType, Doc: "Script of a shell agent."},
			sh, dir, env,
			Attr{Name: "pass_env", Kind: Strings, Doc: "Names in flowrun's own environment that the agent is given."},
			Attr{Name: "input", Kind: Word, Words: []string{"json", "text"}, Default: `"json"`, Doc: "What the agent reads on standard input: a JSON request, or the task as plain text."},
			Attr{Name: "output_format", Kind: Word, Words: []string{"json", "text"}, Default: `"json"`, Doc: "What the agent writes: JSON lines, or plain text."},
			Attr{Name: "concurrency", Kind: Value, Want: value.IntType, Min: 1, Max: MaxConcurrency, Doc: "How many tasks the agent does at once."},
			time,
			Attr{Name: "output", Kind: Type, Doc: "Type of the agent's output."},
			later("capabilities", "heartbeat", "soul", "url", "method", "headers", "model", "tool", "prompt"))},

	"gate": {Label: "name", Doc: "Judges the result of an attempt: by a condition, or by a program's exit code.",
		Blocks: []string{"schema", "review", "benchmark", "security"},
		Attrs: attrs(
			Attr{Name: "check", Kind: Condition, Doc: "A condition over result, which is what is being judged."},
			Attr{Name: "run", Kind: Command, Doc: "A program that passes the result by exiting with 0."},
			Attr{Name: "message", Kind: Value, Want: value.StringType, Doc: "What to say when the gate does not pass."},
			Attr{Name: "on_fail", Kind: Word, Words: []string{"fail", "warn"}, Default: `"fail"`, Doc: "What a verdict of no does."},
			dir, env, sh, time, later("retry"))},

	"workflow": {Label: "name", Doc: "A graph of steps that a run carries out.",
		Blocks: append([]string{"input", "step", "sequence", "parallel", "output", "retry",
			"switch", "feedback", "consensus", "delegate", "compete", "finally", "concurrency", "require"}, "validation"),
		Attrs: attrs(desc,
			Attr{Name: "default", Kind: Flag, Default: "false", Doc: "Runs where a program has several workflows and none is named."},
			Attr{Name: "max_concurrency", Kind: Value, Want: value.IntType, Min: 1, Max: MaxConcurrency, Default: "8", Doc: "How many attempts of a run may be live at once."},
			Attr{Name: "timeout", Kind: Duration, Doc: "Longest time for a whole run."},
			env, dir, sh, later("escalate", "quota"))},

	"step": {Label: "name", Doc: "One unit of work, with exactly one action: run, agent, value or wait.",
		Blocks: append([]string{"wait", "retry", "gate", "http", "approve", "emit", "kv", "remember", "recall", "handoff", "sync", "fail", "end"}, blockLater...),
		Attrs: attrs(
			Attr{Name: "run", Kind: Command, Doc: "A program with its arguments, without a shell; or a shell script in a string."},
			Attr{Name: "agent", Kind: Ref, RefKind: "agent", Doc: "The agent that is given the task."},
			Attr{Name: "task", Kind: Value, Want: value.StringType, Doc: "What the agent is asked to do, in words."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Structured input for the agent."},
			Attr{Name: "value", Kind: Value, Want: value.AnyType, Doc: "Computes the output and touches nothing."},
			when, deps, each, par, time, gate, env, dir, sh,
			Attr{Name: "parse", Kind: Word, Words: []string{"text", "json", "lines", "none"}, Default: `"text"`, Doc: "How standard output becomes the output."},
			Attr{Name: "output", Kind: Type, Doc: "Type that the output must have."},
			nodeLater, later("call", "stdin", "join", "losers"))},
	"sequence": {Label: "name", Doc: "Its nodes one after the other; each can read previous, the result before it.",
		Blocks: append([]string{"step", "sequence", "parallel", "retry", "switch", "feedback", "consensus", "delegate", "compete"}, blockLater...),
		Attrs:  attrs(when, deps, each, par, span, env, dir, sh, nodeLater, groupLater)},
	"parallel": {Label: "name", Doc: "Its nodes at once.",
		Blocks: append([]string{"step", "sequence", "parallel", "retry", "switch", "feedback", "consensus", "delegate", "compete"}, blockLater...),
		Attrs:  attrs(when, deps, each, par, span, env, dir, sh, nodeLater, groupLater)},
	"output": {Label: "name", Doc: "A result of the workflow, computed at its end.",
		Attrs: attrs(Attr{Name: "value", Kind: Value, Want: value.AnyType, Required: true, Doc: "What the output is."}, desc, later("sensitive"))},

	"wait": {Doc: "Pauses without holding a process or a slot.", Once: true,
		Attrs: attrs(Attr{Name: "duration", Kind: Duration, Required: true, Doc: "How long."}, later("at", "event", "match", "timeout"))},
	"retry": {Doc: "When a failed attempt is made again.", Once: true, Attrs: attrs(
		Attr{Name: "max_attempts", Kind: Value, Want: value.IntType, Min: 1, Max: MaxAttempts, Default: "1", Doc: "How many attempts at most, the first included."},
		Attr{Name: "base_delay", Kind: Duration, Default: `"1s"`, Doc: "Wait before the second attempt."},
		Attr{Name: "max_delay", Kind: Duration, Default: `"1m"`, Doc: "Longest wait."},
		Attr{Name: "multiplier", Kind: Value, Want: value.NumberType, Min: 1, Max: MaxMultiplier, Default: "2", Doc: "How much longer each wait is than the one before."},
		Attr{Name: "jitter", Kind: Word, Words: []string{"none", "full", "equal"}, Default: `"full"`, Doc: "How waits are spread at random."},
		Attr{Name: "when", Kind: Condition, Default: "all but blocking and fatal errors", Doc: "Which errors are worth another attempt."})},

	// In the language, and not carried out by this release.
	"flowrun": {Doc: "Settings of the program.", Later: true}, "pool": {Doc: "Agents that share tasks.", Later: true},
	"escalation": {Doc: "What happens when retries don't help.", Later: true}, "channel": {Doc: "Where to notify people.", Later: true},
	"quota": {Doc: "A bound shared by runs.", Later: true}, "routine": {Doc: "Starts a workflow by the clock.", Later: true},
	"on": {Doc: "Starts a workflow on an event.", Later: true}, "loop": {Doc: "Finds the next piece of work.", Later: true},
	"memory": {Doc: "What agents remember.", Later: true}, "library": {Doc: "Workflows from elsewhere.", Later: true},
	"validation": {Doc: "A condition that a value must meet.", Later: true}, "circuit_breaker": {Doc: "Stops asking an agent that fails.", Later: true},
	"rate_limit": {Doc: "How often an agent is asked.", Later: true}, "resources": {Doc: "What an agent may use.", Later: true},
	"schema": {Doc: "A gate by JSON Schema.", Later: true}, "review": {Doc: "A gate by an agent's review.", Later: true},
	"benchmark": {Doc: "A gate by a measured figure.", Later: true}, "security": {Doc: "A gate by a security scan.", Later: true},
	"switch": {Doc: "The first case that holds.", Later: true}, "feedback": {Doc: "Producer and reviewer until accepted.", Later: true},
	"consensus": {Doc: "Participants vote.", Later: true}, "delegate": {Doc: "A conductor chooses who.", Later: true},
	"compete": {Doc: "Several agents, one winner.", Later: true}, "finally": {Doc: "Runs at the end, whatever happened.", Later: true},
	"concurrency": {Doc: "How runs of a workflow share.", Later: true}, "require": {Doc: "What must hold before the start.", Later: true},
	"http": {Doc: "One HTTP request.", Later: true}, "approve": {Doc: "A person's decision.", Later: true}, "emit": {Doc: "Publishes an event.", Later: true},
	"kv": {Doc: "State shared by runs.", Later: true}, "remember": {Doc: "Writes to the memory.", Later: true}, "recall": {Doc: "Searches the memory.", Later: true},
	"handoff": {Doc: "A structured hand-over.", Later: true}, "sync": {Doc: "A sync point shared by runs.", Later: true},
	"fail": {Doc: "Fails on purpose.", Later: true}, "end": {Doc: "Ends the run on purpose.", Later: true},
	"repeat": {Doc: "Repeats until a condition holds.", Later: true}, "deadline": {Doc: "A bound on the node in all.", Later: true},
	"compensate": {Doc: "Undoes the step.", Later: true}, "degrade": {Doc: "A lesser output in place of a failure.", Later: true},
	"budget": {Doc: "What the node may cost.", Later: true},
}
