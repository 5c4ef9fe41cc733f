package schema

import (
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// pricesExample asks a model whose cost is counted.
const pricesExample = `variable "openai_key" {
  type      = string
  sensitive = true
}

agent "writer" {
  type     = "chat"
  provider = "openai"
  model    = "gpt-5-mini"
  key      = var.openai_key
  prices {
    input        = 0.25
    cached_input = 0.025
    output       = 2
  }
}

workflow "poem" {
  step "write" {
    agent = agent.writer
    task  = "Write a poem about the sea."
    budget { cost_usd = 0.05 }
  }
}
`

// boundsExample asks a model at a bounded pace, and another one while it is not well.
const boundsExample = `agent "model" {
  type    = "exec"
  command = ["./ask"]
  rate_limit {
    requests = 100
    per      = "1m"
  }
  circuit_breaker {
    failures = 5
    reset    = "30s"
    when     = "error.kind == 'transient'"
    notify   = [channel.oncall]
  }
}

channel "oncall" {
  type = "file"
  path = "alerts.jsonl"
}

agent "spare" {
  type    = "exec"
  command = ["./ask", "--other"]
}

workflow "w" {
  step "answer" {
    agent    = agent.model
    fallback = [agent.spare]
  }
}
`

// retryExample retries what the network causes, and nothing else.
const retryExample = `step "fetch" {
  run = ["./fetch"]
  retry {
    max_attempts = 5
    base_delay   = "2s"
    when         = "error.reason == 'timeout' || result.stderr contains 'connection reset'"
  }
}
`

// classifyExample retries an exit code that means that the network is down, and does not retry a disk that is full.
const classifyExample = `agent "model" {
  type    = "exec"
  command = ["./ask"]
  classify {
    when = "error.message contains 'context window'"
    kind = "blocking"
  }
}

workflow "w" {
  classify {
    when = "error.reason == 'timeout'"
    kind = "blocking"
  }

  step "answer" {
    agent = agent.model
    task  = "Answer"
  }

  step "fetch" {
    run = ["./fetch"]
    retry { max_attempts = 5 }
    classify {
      when = "error.exit_code == 7 || result.stderr contains 'connection reset'"
      kind = "transient"
    }
  }
}
`

// adaptExample does less at once on a busy machine, and has a workflow look into it where many attempts fail.
const adaptExample = `channel "team" {
  type = "file"
  path = "changes.jsonl"
}

workflow "diagnose" {
  input "rate" { type = number }
  step "look" { run = ["./diagnose", input.rate] }
}

workflow "crawl" {
  default         = true
  max_concurrency = 4
  adapt {
    when            = "metrics.cpu > 80"
    until           = "metrics.cpu < 60"
    max_concurrency = 2
    notify          = [channel.team]
  }
  adapt {
    when     = "metrics.error_rate > 0.05"
    workflow = workflow.diagnose
    with     = { rate = coalesce(metrics.error_rate, 0) }
  }
  step "page" {
    for_each = range(40)
    run      = ["./fetch", each.value]
  }
}
`

// serverExample lets a model read files.
const serverExample = `agent "clerk" {
  type           = "chat"
  provider       = "anthropic"
  model          = "claude-sonnet-4-5"
  key_env        = "ANTHROPIC_API_KEY"
  timeout        = "5m"
  max_turns      = 10
  context_tokens = 50000

  server "files" {
    command = ["mcp-server-filesystem", "."]
    tools   = ["read_text_file", "list_directory"]
  }
}

workflow "w" {
  step "count" {
    agent = agent.clerk
    task  = "How many of the files in docs are about tides?"
  }
}
`

// permissionExample lets a coding agent read all, edit below src, and run nothing.
const permissionExample = `agent "coder" {
  type    = "acp"
  command = ["coder", "--acp"]
  timeout = "30m"
  files   = "read"

  permission {
    kinds = ["read", "search", "think"]
    allow = true
  }
  permission {
    kinds = ["edit"]
    paths = ["src/**"]
    allow = true
  }
}

workflow "w" {
  step "fix" {
    agent = agent.coder
    task  = "Fix the failing test."
  }
}
`

// partBlocks are the blocks that say something of the node or workflow that they stand in.
var partBlocks = map[string]*Block{
	"retry": {Doc: "When a failed attempt is retried. A step with wait or approve has only max_attempts: how often the step waits, if it has gates with on_fail = \"retry\".", Once: true, Example: retryExample, Attrs: attrs(
		Attr{Name: "max_attempts", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxAttempts, Default: "1", Doc: "Maximum number of attempts, including the first."},
		Attr{Name: "base_delay", Kind: Duration, Default: `"1s"`, Doc: "Wait before the second attempt."},
		Attr{Name: "max_delay", Kind: Duration, Default: `"1m"`, Doc: "Longest wait."},
		Attr{Name: "multiplier", Kind: Value, Want: value.NumberType, Min: 1, Max: limits.MaxMultiplier, Default: "2", Doc: "Factor by which the delay grows after each attempt."},
		Attr{Name: "jitter", Kind: Word, Words: []string{"none", "full", "equal"}, Default: `"full"`, Doc: "How waits are spread at random."},
		Attr{Name: "when", Kind: Condition, Default: "all but blocking and fatal errors", Doc: "Which errors are worth another attempt: a condition over error, result (exit_code, stdout and stderr of the failed attempt), attempt, elapsed (the seconds since the node first started), and the other names of the node."})},
	"classify": {Doc: "Changes the kind of errors that match a condition. flowrun classifies the error of each failed attempt once, before anything else reads it, a circuit breaker included: first with the blocks of the step, then with those of its agent, of the groups around it from the inside out, and of the workflow. The first match wins. A condition that cannot be evaluated counts as false, with a warning. The error of a program is its exit code; result.stdout and result.stderr have what the program wrote.", Example: classifyExample, Attrs: attrs(
		Attr{Name: "when", Kind: Condition, Required: true, Doc: "Which errors: a condition over error, result (exit_code, stdout and stderr of the failed attempt), attempt, elapsed (the seconds since the node first started), and the other names that retry.when can read there."},
		Attr{Name: "kind", Kind: Word, Words: ErrorKinds, Required: true, Doc: "The new kind. Errors that are blocking or fatal are not retried by default."})},
	"rule": {Doc: "Sends failures to a level of the escalation.", Attrs: attrs(
		Attr{Name: "when", Kind: Condition, Default: "failures that remain after retries and fallback agents", Doc: "A condition over error, result (exit_code, stdout and stderr of the failed attempt; the two are empty for a group), attempt and elapsed, the seconds since the node first started. A condition that cannot be evaluated counts as false, with a warning."},
		Attr{Name: "level", Kind: Text, Required: true, Doc: "The name of the level."})},
	"level": {Label: "name", Doc: "One level of an escalation. It informs people, and then a workflow heals the problem, another agent takes over, or a person decides. A level with none of these three only informs: the next rules are evaluated, and the node continues as if the level did not exist.", Attrs: attrs(
		Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Doc: "A workflow that heals the problem. When its run succeeds, the node gets one more attempt, which can read the outputs of the run as healed. If that attempt fails, the rules are evaluated again; if none is true, the next level follows."},
		Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Inputs of that workflow. They can read error, result (exit_code, stdout and stderr of the failed attempt), attempt, elapsed and healed, the outputs of the healing workflow of an earlier level."},
		Attr{Name: "reassign", Kind: Ref, RefKind: "agent", Pools: true, Doc: "An agent or a pool that takes over the task, with its own retries, and the history of the failures as feedback. The agent that failed last does not get the task again. A step without an agent, and a group, continue with the next level."},
		Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "none", Doc: "Channels that get a message when a node reaches the level, before anything else happens, with the node, the level and the error; with await also the command that answers."},
		Attr{Name: "await", Kind: Word, Words: []string{"decision"}, Doc: "The node waits, without a slot, until a person decides: flowrun inbox lists it, and flowrun decide RUN NODE answers. retry: the node starts over with all its attempts and the same idempotency key. skip: the node is skipped with the output null, and its dependents run. abort: the node fails and stops the nodes around it, as with on_error = \"stop\". override --output JSON: the node succeeds with this output, which must have its type; its gates are skipped."},
		Attr{Name: "after", Kind: Duration, Default: "no limit", Doc: "How long the level waits for a decision before the next level follows. The answer ack means that a person is looking at it, and stops this clock."},
		Attr{Name: "after_ack", Kind: Duration, Default: "no limit", Doc: "How long the level waits for a decision after the last ack."})},
	"rate_limit": {Doc: "Time window of the limit, over all runs of the store. An attempt above the limit waits, without a slot, until the window allows it.", Once: true, Example: boundsExample, Attrs: attrs(
		Attr{Name: "requests", Kind: Value, Want: value.IntType, Min: 1, Max: MaxRequests, Required: true, Doc: "How many attempts."},
		Attr{Name: "per", Kind: Duration, Required: true, Doc: "The length of the span."})},
	"circuit_breaker": {Doc: "After several failures in a row, starts no attempt for a while, over all runs of the store; then one attempt at a time tests whether the problem is over. If the breaker is open, a step moves to its next fallback agent; without one, it fails with the reason breaker if it has degrade or on_error = \"continue\", and otherwise waits without a slot. When the breaker opens or closes, or flowrun limits reset closes it, flowrun publishes the event flowrun.breaker with name, kind (agent or quota), state (open or closed) and error.", Once: true, Example: boundsExample, Attrs: attrs(
		Attr{Name: "failures", Kind: Value, Want: value.IntType, Min: 1, Max: MaxFailures, Default: "5", Doc: "How many failures in a row open the breaker. Cancellations, rejections by gates, attempts that were lost because flowrun died, and errors of the kind rate_limited with a time to retry do not count."},
		Attr{Name: "reset", Kind: Duration, Default: `"30s"`, Doc: "How long the breaker stays open."},
		Attr{Name: "when", Kind: Condition, Default: "every error", Doc: "Which errors count: a condition over error, result (exit_code, stdout and stderr of the failed attempt), attempt and elapsed, the seconds that the attempt took. The kind of the error is the one that the classify blocks give it."},
		Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "none", Doc: "Channels that get a message when the breaker opens and when it closes, with its name, kind, state and error in data. Only one message is sent for all runs of the store, by the run whose attempt opened or closed the breaker. After flowrun limits reset, the next run in which an attempt of the agent or quota ends sends it."})},
	"repeat": {Doc: "Repeats the node until a condition is true. An iteration reads its number as iteration, and the previous iteration as last.step.NAME. If until is still false after max iterations, the node fails with the kind recoverable and the reason limit.", Once: true, Attrs: attrs(
		Attr{Name: "until", Kind: Condition, Doc: "Ends the repeat if it is true after an iteration. It reads result, iteration and, for a group, the nodes inside."},
		Attr{Name: "max", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxIterations, Required: true, Doc: "Maximum number of iterations; without until, the exact number."},
		Attr{Name: "delay", Kind: Duration, Default: "none", Doc: "Wait between two iterations."})},
	"deadline": {Doc: "Maximum time of a node, including queueing, attempts, waits and gates.", Once: true, Attrs: attrs(
		Attr{Name: "after", Kind: Duration, Required: true, Doc: "How long after the node could start."},
		Attr{Name: "progress", Kind: Value, Want: value.List(value.NumberType), Default: "none", Doc: "Percentages of that time at which the run reports that the node is still running, and the time left."},
		Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "none", Doc: "Channels that get a message at each of these percentages and at the deadline, with the node, the percentage and the seconds left in data."})},
	"budget": {Doc: "Limits the attempts, tokens and cost of a node or a run, including retries, fallback agents, gates, iterations, instances and called runs. flowrun checks the budget before each attempt: once a limit is reached, no attempt starts, and the node that needs one fails with the kind fatal and the reason budget. Running attempts finish, so tokens and cost_usd can exceed the limit; attempts count when they start. An attempt that is refused (quota, busy, rate_limit, breaker), or that gets a time to retry, does not count; while such an answer is still possible, the next attempt above the limit waits for it. A lost attempt counts, and a sync step counts once. A called run can use the rest of the budget at its start. flowrun reserves the maximum number of attempts of its workflow until the called run ends. It also reserves tokens and cost if a budget of the called workflow, or one nearer to the call, limits them; otherwise each concurrent call can use the rest. If too little is left besides the reserves, calls and steps wait. If the maximum of a workflow is unknown, its runs in a budget of attempts follow each other: give the workflow its own budget to let them run at once. finally and compensate count, and always run.", Once: true,
		Attrs: attrs(
			Attr{Name: "attempts", Kind: Value, Want: value.IntType, Min: 1, Max: MaxBudget, Doc: "Maximum number of attempts of steps, and of gates that run a program."},
			Attr{Name: "tokens", Kind: Value, Want: value.NumberType, Min: 1, Max: MaxBudget, Doc: "Maximum number of tokens, input and output together. An agent that reports no tokens counts 0, with one warning."},
			Attr{Name: "cost_usd", Kind: Value, Want: value.NumberType, Min: MinCost, Max: MaxBudget, Doc: "Maximum cost of agents in dollars, more than 0. An agent that reports no cost counts 0, with one warning."},
			Attr{Name: "warn", Kind: Value, Want: value.NumberType, Min: 1, Max: 100, Default: "80", Doc: "Percentage of a limit at which the run warns, once."},
			Attr{Name: "on_exceed", Kind: Word, Words: []string{"stop", "ask", "warn"}, Default: `"stop"`, Doc: "What happens at a limit. stop: no further attempt starts. ask: the next attempt waits, without a slot, until a person decides; flowrun inbox lists it, flowrun decide RUN NODE continue adds the limit once more, and stop starts no further attempt (the NODE of a workflow is a dot). warn: the run only warns once more. With ask, a called run that has used the rest asks for itself (its NODE is a dot); what a person adds there counts for that run alone."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "none", Doc: "Channels that get a message when the warning is shown, and one with the command that answers each time that the budget asks people."}),
		Example: "sequence \"improve\" {\n  budget {\n    attempts = 12\n    warn     = 50\n  }\n  degrade { output = null } # continue without a draft\n  step \"write\" {\n    run = [\"make\", \"draft\"]\n    retry { max_attempts = 5 }\n  }\n}\n"},
	"resources": {Doc: "Limits the processes of an agent. flowrun doctor shows how this machine enforces the limits: with a control group (cgroup v2) if flowrun can create one, otherwise with nice and by polling. An attempt that exceeds its memory is killed and fails with the kind fatal and the reason memory.", Once: true, Attrs: attrs(
		Attr{Name: "cpu_shares", Kind: Value, Want: value.IntType, Min: 2, Max: MaxShares, Default: "1024", Doc: "Share of the CPU when programs compete for it: 512 gets half as much as 1024. A value above 1024 needs a control group, or root."},
		Attr{Name: "memory", Kind: Value, Want: value.StringType, Doc: "Maximum memory of all processes of an attempt together, such as \"512MiB\" or \"2GiB\"."},
		Attr{Name: "priority", Kind: Value, Want: value.AnyType, Min: -limits.MaxPriority, Max: limits.MaxPriority, Doc: "Priority of the agent's steps, unless the step or a group around it has a priority."})},
	"prices": {Doc: "What a chat agent costs, in dollars for a million tokens. With it, each attempt reports its cost, which budgets, quotas and flowrun stats count.", Once: true, Example: pricesExample, Attrs: attrs(
		Attr{Name: "input", Kind: Value, Want: value.NumberType, Min: 0, Max: MaxBudget, Required: true, Doc: "Price of the tokens of requests."},
		Attr{Name: "cached_input", Kind: Value, Want: value.NumberType, Min: 0, Max: MaxBudget, Default: "input", Doc: "Price of the tokens of requests that the provider had in its cache."},
		Attr{Name: "output", Kind: Value, Want: value.NumberType, Min: 0, Max: MaxBudget, Required: true, Doc: "Price of the tokens of answers."})},
	"permission": {Doc: "Whether an acp agent may use tools when it asks. The first permission that matches decides; without one, the answer is no. The permission is for one use.", Example: permissionExample, Attrs: attrs(
		Attr{Name: "kinds", Kind: Strings, Default: "all", Doc: "Kinds of tools: read, edit, delete, move, search, execute, think, fetch, switch_mode or other."},
		Attr{Name: "paths", Kind: Strings, Default: "any files, or none", Doc: "Patterns such as \"src/**/*.go\", relative to the folder of the attempt. The permission matches only if the agent names files, and each of them matches a pattern."},
		Attr{Name: "allow", Kind: Flag, Required: true, Doc: "Whether the agent may use the tool."})},
	"server": {Label: "name", Doc: "An MCP server whose tools a chat or acp agent may use: a program, or a service that speaks streamable HTTP. It starts with each attempt and ends with it. An acp agent starts the server and calls its tools itself. For a chat agent flowrun does: the model calls tools until it answers without a call; flowrun carries out the calls of one answer at the same time, and shows each as progress. The model receives an error of a tool, and can try something else.", Example: serverExample, Attrs: attrs(
		Attr{Name: "tools", Kind: Strings, Doc: "Tools that the model of a chat agent may use, by their names at the server; a chat agent needs it. The model does not see other tools of the server, and cannot call them."},
		Attr{Name: "command", Kind: Value, Want: value.AnyType, Doc: "Program and arguments of the server, if it speaks over standard input and output."},
		Attr{Name: "url", Kind: Value, Want: value.StringType, Doc: "Address of the server, if it speaks streamable HTTP."},
		Attr{Name: "headers", Kind: Value, Want: value.AnyType, Doc: "Object of header fields for requests to url. flowrun sends them to the origin of url only."},
		dir, env, pass,
		Attr{Name: "pin", Kind: Value, Want: value.StringType, Default: "none", Doc: "Descriptions of the tools, as  flowrun agents pin NAME  prints them:  pin = file(\"files.tools.json\"). With a pin, a server with another description of one of the tools is refused before the model is called, with the kind blocking and the reason pin."})},
	"review": {Doc: "A review by an agent. The agent gets the result, the task of the step and the criteria. It answers with an object of scores, a number for each criterion, and findings, a list of objects with severity, message, file and line. The gate passes if each score reaches its minimum and all findings are below the severity block. Otherwise the gate does not pass, also if the answer has another shape, if a score is missing, or if the judge fails after its own retries.", Once: true, Attrs: attrs(
		Attr{Name: "agent", Kind: Ref, RefKind: "agent", Pools: true, Required: true, Doc: "The judge: agent.NAME, or pool.NAME. The members of a pool take turns; the agent that did the work is left out."},
		Attr{Name: "criteria", Kind: Value, Want: value.Map(value.NumberType), Default: "none", Doc: "Minimum score for each criterion, such as { clarity = 0.7 }."},
		severity,
		Attr{Name: "task", Kind: Value, Want: value.StringType, Default: "a sentence that asks for scores and findings", Doc: "Task of the judge. It can read result."})},
	"benchmark": {Doc: "Compares a measurement of a program with a baseline that the store keeps. The program runs several times; the gate passes if the median exceeds the baseline by at most max_regression. The first measurement becomes the baseline; flowrun gate baseline shows it, and accepts another one. If the program fails, the gate does not pass. The timeout of the gate covers all runs of the program together.", Once: true, Attrs: attrs(
		Attr{Name: "run", Kind: Command, Required: true, Doc: "Program to measure, with its arguments; or a shell script in a string."},
		Attr{Name: "samples", Kind: Value, Want: value.IntType, Min: 1, Max: MaxSamples, Default: "5", Doc: "How often it runs."},
		Attr{Name: "metric", Kind: Text, Default: `"time"`, Doc: "The measurement: time, in seconds; memory, the peak of one process of the program in bytes, if that is more than flowrun itself uses; or NAME, which the program prints as a line NAME=number. Lower is better."},
		Attr{Name: "baseline", Kind: Text, Default: "the name of the gate", Doc: "Name of the baseline in the store."},
		Attr{Name: "max_regression", Kind: Text, Default: `"10%"`, Doc: "How far the measurement may exceed the baseline, in percent."})},
	"security": {Doc: "Built-in scans of all texts in result.output, without a program. They detect common patterns only; add a gate with your scanner's findings for the rest.", Once: true, Attrs: attrs(
		Attr{Name: "scan", Kind: Strings, Required: true, Doc: "What to scan for: secrets (keys, tokens and passwords), or injection (text that tries to give orders to an agent)."},
		severity)},
	"adapt": {Doc: "A rule that changes how many attempts may run at once, or starts a workflow, while a condition over metrics is true. flowrun evaluates the rules when an attempt ends, when it measures the machine, at the progress marks of a deadline, and after each cooldown of an active rule. If several rules are active, the last one sets the number; if none is active, the number in the file applies again. The run reports each change.",
		Attrs: attrs(
			Attr{Name: "when", Kind: Condition, Required: true, Doc: "The rule becomes active when this condition is true. It reads metrics, run and input. A metric that is null makes the condition false."},
			Attr{Name: "until", Kind: Condition, Default: "when is false", Doc: "Ends the rule when it is true. It reads the same names as when. A rule whose when compares with metrics.limit needs it: a higher limit makes such a condition false, so the rule would end at once, and begin again."},
			Attr{Name: "for", Kind: Duration, Default: "none", Doc: "How long the condition when must be true before the rule becomes active."},
			Attr{Name: "max_concurrency", Kind: Value, Want: value.NumberType, Min: 1, Max: limits.MaxConcurrency, Doc: "How many attempts may run at once while the rule is active. It can read metrics: metrics.limit + 2 grows by 2 with each cooldown. Fractions are rounded down; the number is at least 1, and at most 10000 and the flag --parallel. Running attempts continue."},
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Doc: "Workflow that starts, as a separate run, when the rule becomes active, one at a time. If it fails, the run warns. The run waits for it to end."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Default: "no inputs", Doc: "Object with the inputs of that workflow."},
			Attr{Name: "cooldown", Kind: Duration, Default: `"5m"`, Doc: "Minimum time between two starts of the workflow, and the interval at which max_concurrency is computed again while when is true. At least 1s."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "none", Doc: "Channels that get a message when the rule becomes active and when it ends, with the number of the rule, whether it is active, why, and max_concurrency in data."}),
		Example: adaptExample},
	"compensate": {Doc: "Undoes the node if the run fails or is cancelled: a step that has started, a wait or an approval that has begun to wait, and a group that has succeeded. Compensations run one at a time, in reverse order: a node that started later is undone first, and a group before the nodes inside it. Each instance and iteration is undone separately. If a compensation fails, the failure is recorded, and the next compensation runs.", Once: true, Attrs: attrs(
		Attr{Name: "run", Kind: Command, Required: true, Doc: "A program with its arguments, or a script. It runs once."},
		dir, env, pass, sh,
		Attr{Name: "timeout", Kind: Duration, Doc: "Maximum time."})},
	"finally": {Doc: "Nodes that always run at the end of a run, one after the other, even after a failure or a cancellation.", Once: true, Blocks: innerNodes, Attrs: attrs(
		Attr{Name: "timeout", Kind: Duration, Default: `"5m"`, Doc: "Maximum time of all nodes in finally together."})},
	"concurrency": {Doc: "Allows one active run per group. Called runs of the same group share the turn of their caller, and run one at a time. A call that could never get its turn fails.", Once: true, Attrs: attrs(
		Attr{Name: "group", Kind: Value, Want: value.StringType, Required: true, Doc: "Name of the group, an expression over var, local and input."},
		Attr{Name: "when_busy", Kind: Word, Words: []string{"queue", "skip", "cancel_previous"}, Default: `"queue"`, Doc: "What a second run of the group does: it waits, is skipped, or cancels the earlier run."})},
	"require": {Doc: "A condition that must be true before the start. Otherwise the node, or the run, fails.", Attrs: attrs(cond, say)},
	"degrade": {Doc: "Output of the node if it fails. The failure is then tolerated.", Once: true, Attrs: attrs(
		Attr{Name: "output", Kind: Value, Want: value.AnyType, Required: true, Doc: "The output after a failure. It can read error."})},
}
