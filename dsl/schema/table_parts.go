package schema

import "github.com/flowrun/flowrun/dsl/value"

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
    when = "error.message contains 'No space left'"
    kind = "fatal"
  }

  step "answer" {
    agent = agent.model
    task  = "Answer"
  }

  step "fetch" {
    run = ["./fetch"]
    retry { max_attempts = 5 }
    classify {
      when = "error.exit_code == 7"
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

// partBlocks are the blocks that say something of the node or workflow that they stand in.
var partBlocks = map[string]*Block{
	"retry": {Doc: "When a failed attempt is tried again.", Once: true, Attrs: attrs(
		Attr{Name: "max_attempts", Kind: Value, Want: value.IntType, Min: 1, Max: MaxAttempts, Default: "1", Doc: "How many attempts at most, the first included."},
		Attr{Name: "base_delay", Kind: Duration, Default: `"1s"`, Doc: "Wait before the second attempt."},
		Attr{Name: "max_delay", Kind: Duration, Default: `"1m"`, Doc: "Longest wait."},
		Attr{Name: "multiplier", Kind: Value, Want: value.NumberType, Min: 1, Max: MaxMultiplier, Default: "2", Doc: "How much longer each wait is than the one before."},
		Attr{Name: "jitter", Kind: Word, Words: []string{"none", "full", "equal"}, Default: `"full"`, Doc: "How waits are spread at random."},
		Attr{Name: "when", Kind: Condition, Default: "all but blocking and fatal errors", Doc: "Which errors are worth another attempt."})},
	"classify": {Doc: "Gives the errors for which a condition holds another kind. Each failed attempt is asked about once, before anything else sees its error: first the blocks of the step, then those of its agent, of the groups around it from the inside out, and of the workflow. The first that holds decides. A condition that cannot be computed does not hold, and the run warns.", Example: classifyExample, Attrs: attrs(
		Attr{Name: "when", Kind: Condition, Required: true, Doc: "Which errors: a condition over error, attempt, elapsed (the seconds since the node first started), and whatever else retry.when can read there."},
		Attr{Name: "kind", Kind: Word, Words: ErrorKinds, Required: true, Doc: "Their kind. Errors that are blocking or fatal are not tried again by default."})},
	"rule": {Doc: "Which failures go to which level of an escalation.", Attrs: attrs(
		Attr{Name: "when", Kind: Condition, Default: "what retries and fallback agents could not settle", Doc: "A condition over error, attempt and elapsed, the seconds since the node first started. One that cannot be computed does not hold, and the run warns."},
		Attr{Name: "level", Kind: Text, Required: true, Doc: "The name of the level."})},
	"level": {Label: "name", Doc: "One step of an escalation: people are told, and a workflow heals, another agent takes over, or a person decides. A level that does none of the latter only informs; the next rules are asked, and the node goes on as if it had not been.", Attrs: attrs(
		Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Doc: "A workflow that heals. When its run has succeeded, the node has one more attempt, which can read the outputs of the run as healed. If that attempt fails, the rules are asked again, and if none holds, the next level follows."},
		Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "The inputs of that workflow. They can read error, attempt, elapsed and healed, which is what the level before has returned."},
		Attr{Name: "reassign", Kind: Ref, RefKind: "agent", Pools: true, Doc: "An agent or a pool that takes the task over, with retries of its own and the history of the failures in its feedback. Whoever failed last does not get the task again. A step without an agent, and a group, go on to the next level."},
		Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that get a message when a node comes to the level, before anything else is done, with the node, the level and the error."},
		Attr{Name: "await", Kind: Word, Words: []string{"decision"}, Doc: "The node waits, without a slot, until a person decides what becomes of it: flowrun inbox lists it, and flowrun decide RUN NODE answers with retry (the node has its attempts anew, with the same key), skip (it is skipped with the output null, and what needs it runs), abort (it has failed, which stops what is around it, as with on_error = \"stop\"), or override --output JSON (it has succeeded with that output, which must be of its type; its gates are not asked)."},
		Attr{Name: "after", Kind: Duration, Default: "it waits until somebody decides", Doc: "How long the level awaits a decision. Then the next level follows. The answer ack says that somebody looks at it, and stops this time."},
		Attr{Name: "after_ack", Kind: Duration, Default: "it waits until somebody decides", Doc: "How long the level awaits a decision from the last ack on."})},
	"rate_limit": {Doc: "In no span of this length do more attempts start, over all runs of the store. An attempt that comes too early waits without a slot until its moment.", Once: true, Example: boundsExample, Attrs: attrs(
		Attr{Name: "requests", Kind: Value, Want: value.IntType, Min: 1, Max: MaxRequests, Required: true, Doc: "How many attempts."},
		Attr{Name: "per", Kind: Duration, Required: true, Doc: "The length of the span."})},
	"circuit_breaker": {Doc: "Lets nothing start for a while after failures in a row, over all runs of the store; then one attempt at a time tries whether it is well again. What finds it open goes to the next fallback, or fails with the reason breaker where the node has degrade or on_error = \"continue\"; else it waits without a slot. When it opens or closes, also because of flowrun limits reset, that is the event flowrun.breaker for runs that wait for it and programs that it starts: name, kind (agent or quota), state (open or closed) and error.", Once: true, Example: boundsExample, Attrs: attrs(
		Attr{Name: "failures", Kind: Value, Want: value.IntType, Min: 1, Max: MaxFailures, Default: "5", Doc: "How many failures in a row open it. Cancels, verdicts of gates and errors of the kind rate_limited that say when to come back are not counted."},
		Attr{Name: "reset", Kind: Duration, Default: `"30s"`, Doc: "How long it stays open."},
		Attr{Name: "when", Kind: Condition, Default: "every error", Doc: "Which errors are counted: a condition over error, attempt and elapsed, the seconds that the attempt took."},
		Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that get a message when the breaker opens and when it closes, with its name, kind, state and error in data. It is one message for all runs of the store; the run whose attempt has opened or closed the breaker sends it. When flowrun limits reset has closed it, the run sends it whose attempt is the next to end."})},
	"repeat": {Doc: "Makes the node again until a condition holds.", Once: true, Attrs: attrs(
		Attr{Name: "until", Kind: Condition, Doc: "Ends the repeat where it holds after an iteration; it reads result, iteration and, of a group, its nodes."},
		Attr{Name: "max", Kind: Value, Want: value.IntType, Min: 1, Max: MaxIterations, Required: true, Doc: "How many iterations at most; without until, how many."},
		Attr{Name: "delay", Kind: Duration, Default: "none", Doc: "Wait between two iterations."})},
	"deadline": {Doc: "When a node must have ended, with queueing, attempts, waits and gates.", Once: true, Attrs: attrs(
		Attr{Name: "after", Kind: Duration, Required: true, Doc: "How long after the node could start."},
		Attr{Name: "progress", Kind: Value, Want: value.List(value.NumberType), Default: "none", Doc: "Percentages of that time at which the run says that the node still runs, and how much time is left."},
		Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that get a message at each of these percentages and at the end, with the node, the percentage and the seconds that are left in data."})},
	"budget": {Doc: "What a node, or a run, may use at most, with retries, fallback agents, gates, iterations, instances and called runs. Each start of an attempt asks first: where a bound is reached, nothing more starts, and what would have started fails with the kind fatal and the reason budget. What runs then ends, so tokens and cost_usd can be exceeded by that; attempts count when they start. A refused attempt (quota, busy, rate_limit, breaker) does not count, nor does one that is told when to come back; until such an answer can no longer come, a start behind the last attempt that fits waits for it. An attempt that was lost counts, and a sync step counts once. A called run may use what was left when it started; of attempts no more than its workflow makes at most, and these are kept for it until it has ended. While too few are left, calls and steps wait. If nobody knows how many attempts a workflow makes, its runs in a budget of attempts follow each other: give the workflow a budget of its own to let them run at once. finally and compensate count, and are never kept from running.", Once: true,
		Attrs: attrs(
			Attr{Name: "attempts", Kind: Value, Want: value.IntType, Min: 1, Max: MaxBudget, Doc: "How many attempts may start: of steps and of gates that run a program."},
			Attr{Name: "tokens", Kind: Value, Want: value.NumberType, Min: 1, Max: MaxBudget, Doc: "How many tokens agents may use, in and out. An agent that reports none counts 0, and the run warns of it once."},
			Attr{Name: "cost_usd", Kind: Value, Want: value.NumberType, Min: MinCost, Max: MaxBudget, Doc: "How many dollars agents may cost, more than 0. An agent that reports no cost counts 0, and the run warns of it once."},
			Attr{Name: "warn", Kind: Value, Want: value.NumberType, Min: 1, Max: 100, Default: "80", Doc: "At which percentage of a bound the run warns, once."},
			Attr{Name: "on_exceed", Kind: Word, Words: []string{"stop", "ask", "warn"}, Default: `"stop"`, Doc: "What a bound that is reached means: nothing more starts; or what would start waits, without a slot, until a person decides (flowrun inbox lists it; flowrun decide RUN NODE continue adds the bound once more, and stop means that nothing more starts; the NODE of a workflow is a dot); or one more warning. With ask, a called run that has begun goes on to its end."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that get a message when the warning is shown."}),
		Example: "sequence \"improve\" {\n  budget {\n    attempts = 12\n    warn     = 50\n  }\n  degrade { output = null } # go on without it\n  step \"write\" {\n    run = [\"make\", \"draft\"]\n    retry { max_attempts = 5 }\n  }\n}\n"},
	"resources": {Doc: "What the processes of an agent may use. flowrun doctor says how they are bound on this machine: by a control group (cgroup v2) where flowrun can write one, else by nice and by looking at them. An attempt whose processes were ended because they used more memory fails with the kind fatal and the reason memory.", Once: true, Attrs: attrs(
		Attr{Name: "cpu_shares", Kind: Value, Want: value.IntType, Min: 2, Max: MaxShares, Default: "1024", Doc: "The share of the processors where several programs want more than there is: 512 gets half of what 1024 gets. More than 1024 needs a control group, or root."},
		Attr{Name: "memory", Kind: Value, Want: value.StringType, Doc: "The most memory of all processes of an attempt together, such as \"512MiB\" or \"2GiB\"."},
		Attr{Name: "priority", Kind: Value, Want: value.AnyType, Min: -MaxPriority, Max: MaxPriority, Doc: "Who goes first where attempts wait for the same slots, for steps of the agent that have no priority and stand in no group with one."})},
	"review": {Doc: "A judgement by an agent. It is given the result, the task of the step and the criteria, and answers with an object: scores, a number for each criterion, and findings, a list of objects with severity, message, file and line. The gate passes if each criterion reaches its bound and no finding is as grave as block. Anything else does not pass: an answer of another shape, a score that is left out, or a judge that fails after its own retries.", Once: true, Attrs: attrs(
		Attr{Name: "agent", Kind: Ref, RefKind: "agent", Pools: true, Required: true, Doc: "Who judges: agent.NAME, or pool.NAME, whose members judge in turn, but for the one who did the work."},
		Attr{Name: "criteria", Kind: Value, Want: value.Map(value.NumberType), Default: "none", Doc: "The lowest score of each criterion, such as { clarity = 0.7 }."},
		severity,
		Attr{Name: "task", Kind: Value, Want: value.StringType, Default: "a sentence that asks for scores and findings", Doc: "What the judge is asked. It reads result."})},
	"benchmark": {Doc: "A figure of a program against the one that the store keeps. The program runs several times, and the median is compared: the gate passes if it is not above the baseline by more than max_regression. The first figure becomes the baseline; flowrun gate baseline shows it, and accepts another one. A program that fails does not pass. The timeout of the gate is that of all runs of the program together.", Once: true, Attrs: attrs(
		Attr{Name: "run", Kind: Command, Required: true, Doc: "The program that is measured, with its arguments; or a shell script in a string."},
		Attr{Name: "samples", Kind: Value, Want: value.IntType, Min: 1, Max: MaxSamples, Default: "5", Doc: "How often it runs."},
		Attr{Name: "metric", Kind: Text, Default: `"time"`, Doc: "The figure: time, in seconds; memory, the most that one process of the program uses, in bytes, where that is more than flowrun itself uses; or NAME, which the program prints as a line NAME=number. A lower figure is better."},
		Attr{Name: "baseline", Kind: Text, Default: "the name of the gate", Doc: "The name under which the store keeps the figure for all runs."},
		Attr{Name: "max_regression", Kind: Text, Default: `"10%"`, Doc: "How far above the baseline the figure may be, in percent."})},
	"security": {Doc: "Built-in scans of all texts in result.output, without a program. They know common shapes and no more: a gate of your scanner's findings sees what they miss.", Once: true, Attrs: attrs(
		Attr{Name: "scan", Kind: Strings, Required: true, Doc: "What to look for: secrets, which are keys, tokens and passwords; injection, which are words that try to give orders to an agent."},
		severity)},
	"adapt": {Doc: "A rule that changes how many attempts may be live at once, or starts a workflow, while a condition over metrics holds. Rules are asked when an attempt has ended, when figures of the machine come, at the marks of a deadline (progress), and after each cooldown of a rule that is on. Of several rules that are on, the last one gives the number; when none is on, the number of the file is back. Each change is a line of the run.",
		Attrs: attrs(
			Attr{Name: "when", Kind: Condition, Required: true, Doc: "The rule comes on when this holds. It reads metrics, run and input. A figure that is null makes it not hold."},
			Attr{Name: "until", Kind: Condition, Default: "when does not hold", Doc: "Ends the rule. It reads the same."},
			Attr{Name: "for", Kind: Duration, Default: "none", Doc: "How long when must have held before the rule comes on."},
			Attr{Name: "max_concurrency", Kind: Value, Want: value.NumberType, Min: 1, Max: MaxConcurrency, Doc: "How many attempts may be live at once while the rule is on. It can read metrics: metrics.limit + 2 grows by 2 with each cooldown. A fraction is rounded down; the number is never below 1, above 10000, or above the flag --parallel. Attempts that run go on."},
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Doc: "Started as a run of its own when the rule comes on, one at a time. Its failure is a warning. The run ends after it."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Default: "no inputs", Doc: "An object of the inputs of that workflow."},
			Attr{Name: "cooldown", Kind: Duration, Default: `"5m"`, Doc: "How long the workflow is not started again, and how often max_concurrency is computed again while when holds. It is 1s at least."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that get a message when the rule comes on and when it ends, with the number of the rule, whether it is on, why, and max_concurrency in data."}),
		Example: adaptExample},
	"compensate": {Doc: "Undoes what a step did, where the run fails or is cancelled after the step has started.", Once: true, Attrs: attrs(
		Attr{Name: "run", Kind: Command, Required: true, Doc: "A program with its arguments, or a script; it is run once."},
		dir, env, pass, sh,
		Attr{Name: "timeout", Kind: Duration, Doc: "Longest time for it."})},
	"finally": {Doc: "Nodes that run at the end of a run, whatever happened, one after the other.", Once: true, Blocks: innerNodes, Attrs: attrs(
		Attr{Name: "timeout", Kind: Duration, Default: `"5m"`, Doc: "Longest time for all of it."})},
	"concurrency": {Doc: "Lets one run at a time be active of those whose group is the same text. A run keeps its turn while it calls others; those of them that are of its group share it, and take turns. A call that could never have its turn for that fails.", Once: true, Attrs: attrs(
		Attr{Name: "group", Kind: Value, Want: value.StringType, Required: true, Doc: "A text over var, local and input."},
		Attr{Name: "when_busy", Kind: Word, Words: []string{"queue", "skip", "cancel_previous"}, Default: `"queue"`, Doc: "What another run of the group does: waits, does not run, or cancels the one before."})},
	"require": {Doc: "What must hold before the start; else the node, or the run, fails.", Attrs: attrs(cond, say)},
	"degrade": {Doc: "An output in place of that of a node that failed, which is tolerated then.", Once: true, Attrs: attrs(
		Attr{Name: "output", Kind: Value, Want: value.AnyType, Required: true, Doc: "What the output is then; it can read error."})},
}
