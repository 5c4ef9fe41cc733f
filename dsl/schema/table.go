package schema

import (
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// The limits that the runner need not know. Package limits has the rest.
const (
	MaxSamples    = 100 // of a benchmark
	DefaultRounds = 3   // of a group that a gate has made again
	MaxShares     = 262144
	MaxBudget     = 1e12   // attempts, tokens or dollars of a budget
	MinCost       = 1e-6   // dollars of a budget
	MaxRequests   = 10_000 // of a rate limit
	MaxFailures   = 1000   // of a circuit breaker

	MaxMessage       = 64 << 10 // bytes of the text of a message, and of its data as JSON
	MaxTitle         = 256      // bytes of the title of a message
	MaxLevel         = 64       // bytes of the level of a message
	MaxReceivers     = 16       // channels that a message goes to
	MaxShortTerm     = 1000     // tasks in short-term memory
	MaxConsolidation = 10_000   // learnings between two consolidations
	MaxGroups        = 64       // groups that a program's memory has
)

// Priorities are the words that stand for priorities.
var Priorities = map[string]float64{"low": -10, "normal": 0, "high": 10, "critical": 20}

// Attributes that several kinds of block have.
var (
	enum     = Attr{Name: "enum", Kind: Value, Want: value.AnyType, Doc: "List of the allowed values."}
	hide     = Attr{Name: "sensitive", Kind: Flag, Default: "false", Doc: "Keeps the value out of journal, logs and screen."}
	when     = Attr{Name: "when", Kind: Condition, Doc: "Runs the node only if this condition is true. Otherwise the node is skipped, and its output is null."}
	deps     = Attr{Name: "depends_on", Kind: Refs, RefKind: "step", Doc: "Nodes that must succeed before this one starts, besides those that its expressions read."}
	rule     = Attr{Name: "trigger_rule", Kind: Word, Words: []string{"none_failed", "all_success", "all_done", "one_success", "one_failed", "all_failed", "always"}, Default: `"none_failed"`, Doc: "Which results of its dependencies let the node start."}
	each     = Attr{Name: "for_each", Kind: Value, Want: value.AnyType, Doc: "Runs one instance of the node for each member of a list, set or map. An instance reads its member as each.value and its key, or its index from 0, as each.key."}
	par      = Attr{Name: "max_concurrency", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxConcurrency, Doc: "How many attempts inside this node may run at once."}
	join     = Attr{Name: "join", Kind: Join, Want: value.IntType, Words: []string{"all", "any", "first_success"}, Min: 1, Max: limits.MaxConcurrency, Default: `"all"`, Doc: "When a parallel or a for_each counts as done: a word, a number of successes, or a condition over total, done, succeeded, failed, skipped and result."}
	lose     = Attr{Name: "losers", Kind: Word, Words: []string{"wait", "cancel", "detach"}, Default: `"wait" for a join of all, "cancel" for others`, Doc: "What happens to the remaining nodes once the join is satisfied."}
	oner     = Attr{Name: "on_error", Kind: Word, Words: []string{"block", "stop", "continue"}, Default: `"block"`, Doc: "Effect of a failure on other nodes: block blocks the nodes that depend on this one, stop also stops the nodes that run beside it, continue tolerates the failure. It does not tolerate a node that a person cancelled."}
	lost     = Attr{Name: "on_lost", Kind: Word, Words: []string{"retry", "fail"}, Default: `"retry"`, Doc: "What happens to an attempt if the flowrun process that runs it dies."}
	late     = Attr{Name: "on_timeout", Kind: Word, Words: []string{"fail", "hand_in"}, Default: `"fail"`, Doc: "What happens at the timeout. fail: the attempt fails. hand_in: its work so far becomes the output, the gates judge it, and .partial is true. For an agent that is the last line {\"type\":\"partial\",\"output\":…}, or the result that it returns within five seconds of TERM; for run it is the text written so far. If there is none, the attempt fails."}
	prio     = Attr{Name: "priority", Kind: Value, Want: value.AnyType, Min: -limits.MaxPriority, Max: limits.MaxPriority, Default: `"normal"`, Doc: "Order in which waiting nodes get a free slot: a whole number from -1000 to 1000, or low (-10), normal (0), high (10) or critical (20). Ties go to the node with the longest remaining path, as measured in earlier runs, then to the node that was ready first."}
	back     = Attr{Name: "fallback", Kind: Refs, RefKind: "agent", Pools: true, Doc: "Agents or pools that get the task, in this order, after the retries of the step's agent are used up."}
	quot     = Attr{Name: "quota", Kind: Quotas, Doc: "Quotas that each attempt takes while it runs, all or none: quota.NAME, [quota.A, quota.B], or { NAME = units } with expressions. An attempt waits, without a slot, until enough units are free. A call holds the units until the called run has ended."}
	hold     = Attr{Name: "quota", Kind: Quotas, Doc: "Quotas that are taken before the first node inside starts, and held until the last one ends: quota.NAME, [quota.A, quota.B], or { NAME = units } with expressions. Nodes inside do not take them again. A run without a process holds nothing; a process that resumes the run takes the units again before any node inside continues."}
	env      = Attr{Name: "env", Kind: Env, Doc: "Environment variables; the nearest block that sets a name wins."}
	pass     = Attr{Name: "pass_env", Kind: Strings, Doc: "Environment variables that programs receive although their names look secret, such as *TOKEN* and *_KEY. The nearest list wins."}
	dir      = Attr{Name: "dir", Kind: Value, Want: value.StringType, Default: "the program's folder", Doc: "Working folder, relative to the program's folder."}
	sh       = Attr{Name: "shell", Kind: Word, Words: []string{"sh", "bash"}, Default: `"sh"`, Doc: "Shell for scripts: sh -e, or bash -eo pipefail."}
	desc     = Attr{Name: "description", Kind: Text, Doc: "The purpose, in a sentence."}
	about    = Attr{Name: "description", Kind: Text, Doc: "The purpose of the node, in a sentence. Plans, drawings, runs show and reports print it."}
	typ      = Attr{Name: "type", Kind: Type, Default: "any", Doc: "Type of its value."}
	deft     = Attr{Name: "default", Kind: Value, Want: value.AnyType, Doc: "Value if none is given. Without a default, a value is required."}
	time     = Attr{Name: "timeout", Kind: Duration, Doc: "Maximum time of one attempt, without queueing and gates."}
	span     = Attr{Name: "timeout", Kind: Duration, Doc: "Maximum time from the first start of a node inside. The clock stops while no process runs the workflow."}
	gate     = Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge each attempt's result, in order."}
	severity = Attr{Name: "block", Kind: Word, Words: []string{"info", "low", "medium", "high", "critical"}, Default: `"high"`, Doc: "Findings of this severity or higher do not pass."}
	cond     = Attr{Name: "condition", Kind: Condition, Required: true, Doc: "Condition that must be true."}
	say      = Attr{Name: "message", Kind: Value, Want: value.StringType, Default: "the condition", Doc: "Message if the condition is false."}
)

func attrs(lists ...any) []Attr {
	n := 0
	for _, l := range lists {
		if list, ok := l.([]Attr); ok {
			n += len(list)
		} else {
			n++
		}
	}
	out := make([]Attr, 0, n)
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
	esc        = Attr{Name: "escalate", Kind: Ref, RefKind: "escalation", Doc: "Escalation that handles failures: escalation.NAME."}
	groupType  = Attr{Name: "output", Kind: Type, Doc: "Type of the output of the group. A group with another output fails."}
	groupMakes = attrs(
		Attr{Name: "value", Kind: Value, Want: value.AnyType, Default: "an object of the outputs of its nodes", Doc: "Output of the group, computed when the group succeeds. It can read the nodes inside."},
		Attr{Name: "winner", Kind: Value, Want: value.StringType, Default: "the node that satisfies the join", Doc: "Name of the winner of the group, computed when the group succeeds, and read as step.NAME.winner."},
		Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge the result of the group when it succeeds, in order. A gate with on_fail = \"retry\" repeats the whole group, as its next iteration, or, without a repeat, up to max_attempts of the group's retry, 3 by default. The agents inside get the gate's feedback."})
	nodeBlock   = []string{"repeat", "deadline", "degrade", "require", "retry", "budget", "classify"}
	innerNodes  = []string{"step", "sequence", "parallel", "switch", "feedback", "consensus", "delegate", "compete"}
	commonAttrs = attrs(about, when, deps, rule, each, par, join, lose, oner, prio)
)

func blocks(lists ...[]string) (out []string) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// Blocks holds every kind of block. "file" is the top of a program.
var Blocks = map[string]*Block{
	"file": {Doc: "The top of a program.", Blocks: []string{"variable", "locals", "agent", "pool", "gate", "workflow",
		"memory", "flowrun", "escalation", "channel", "quota", "routine", "on", "loop", "library"}},
}
