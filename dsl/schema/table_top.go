package schema

import "github.com/flowrun/flowrun/dsl/value"

// quotaExample deploys to staging once at a time, calls the API at a bounded pace, and spends so much a day, over all runs of the store.
const quotaExample = `quota "staging" { capacity = 1 }

quota "api" {
  rate_limit {
    requests = 100
    per      = "1m"
  }
}

quota "models" {
  cost_usd = 20 # a day, over all runs
  per      = "24h"
}

agent "coder" {
  type    = "exec"
  command = ["coder"]
  quota   = quota.models
}

workflow "deploy" {
  step "publish" {
    run   = ["./deploy"]
    quota = [quota.staging, quota.api]
  }
  step "tell" {
    agent      = agent.coder
    task       = "Say what has changed."
    depends_on = [step.publish]
  }
}
`

// channelExample tells people and a file when a deployment has failed, and says at its end that it has succeeded.
const channelExample = `variable "webhook_key" {
  type      = string
  sensitive = true
}

channel "pager" {
  type   = "webhook"
  url    = "https://pager.example.com/flowrun"
  secret = var.webhook_key
  dedupe = "30m"
}

channel "journal" {
  type = "file"
  path = "messages.jsonl"
}

workflow "deploy" {
  step "publish" { run = ["./deploy"] }

  step "alarm" {
    notify {
      to    = [channel.pager, channel.journal]
      title = "Deployment failed"
      text  = "Step publish: ${step.publish.error.message}"
      level = "critical"
    }
    when = "step.publish.status == 'failed'"
  }
}
`

// onExample has one workflow publish an event, and another one start for it. A webhook starts a third.
const onExample = `workflow "build" {
  default = true
  step "compile" { run = ["make"] }

  step "tell" {
    emit {
      event = "build.done"
      data  = { version = "1.4.0", green = true }
    }
    depends_on = [step.compile]
  }
}

on "build.done" {
  workflow = workflow.deploy
  when     = "event.green"
  data     = object({ version = string, green = bool })
  with     = { version = event.version }
}

workflow "deploy" {
  input "version" { type = string }
  step "publish" { run = ["./deploy", input.version] }
}

variable "github_key" {
  type      = string
  sensitive = true
}

on "webhook.github" {
  workflow  = workflow.check
  secret    = var.github_key
  signature = "github"
  when      = "event.headers['x-github-event'] == 'push'"
  data      = object({ ref = string })
  with      = { branch = trimprefix(event.body.ref, "refs/heads/") }
}

workflow "check" {
  input "branch" { type = string }
  step "test" { run = ["./test", input.branch] }
}
`

// inputExample has a text from elsewhere scanned before an agent sees it.
const inputExample = `agent "support" {
  type    = "exec"
  command = ["support"]
}

gate "harmless" {
  security { scan = ["injection", "secrets"] }
}

gate "short" { check = "len(result.output) < 4000" }

workflow "answer" {
  input "letter" {
    type  = string
    gates = [gate.short, gate.harmless]
  }
  step "reply" {
    agent = agent.support
    task  = "Answer this letter: ${input.letter}"
  }
}
`

// gateExample has work judged by an agent, by a scanner's findings and by a scan.
const gateExample = `agent "author" {
  type    = "exec"
  command = ["author"]
}

agent "critic" {
  type    = "exec"
  command = ["critic"]
}

gate "clear" {
  on_fail = "retry" # the author hears the findings
  review {
    agent    = agent.critic
    criteria = { clarity = 0.7, relevance = 0.7 }
  }
}

gate "scanned" {
  run      = ["scanner", "--format", "sarif"]
  findings = "sarif"
  block    = "medium"
}

gate "no_secrets" {
  security { scan = ["secrets", "injection"] }
}

workflow "write" {
  step "guide" {
    agent = agent.author
    task  = "Write the guide."
    gates = [gate.clear, gate.scanned, gate.no_secrets]
    retry { max_attempts = 3 }
  }
}
`

// poolExample has a task done by whoever is free, one by whoever has a GPU, and subtasks by those whom a conductor names.
const poolExample = `agent "conductor" {
  type    = "exec"
  command = ["conductor"]
}

agent "backend" {
  type         = "exec"
  command      = ["backend"]
  capabilities = ["go"]
  concurrency  = 2
}

agent "trainer" {
  type         = "exec"
  command      = ["trainer"]
  capabilities = ["go", "gpu"]
}

pool "team" {
  members  = [agent.backend, agent.trainer]
  strategy = "least_busy"
}

workflow "feature" {
  step "sketch" {
    agent = pool.team
    task  = "Sketch the change"
  }

  step "train" {
    agent        = pool.team
    capabilities = ["gpu"]
    task         = "Train the model"
  }

  step "split" {
    agent  = agent.conductor
    task   = "Say who does what"
    output = list(object({ who = string, task = string }))
  }

  step "work" {
    for_each = step.split.output
    agent    = pool.team[each.value.who]
    task     = each.value.task
  }
}
`

// routineExample has a report every working day in the morning, and a check every quarter of an hour.
const routineExample = `routine "morning" {
  cron     = "30 8 * * MON-FRI"
  timezone = "Europe/Berlin"
  workflow = workflow.report
  with     = { depth = "full" }
  missed   = "latest"
  jitter   = "2m"
}

routine "check" {
  every    = "15m"
  workflow = workflow.report
  overlap  = "skip"
}

workflow "report" {
  input "depth" {
    type    = string
    default = "short"
  }
  step "write" { run = ["./report", input.depth] }
}
`

// escalationExample has an agent mend the input of a step, then gives the step to another agent, and then asks a person.
const escalationExample = `agent "coder" {
  type    = "exec"
  command = ["./coder"]
}

agent "senior" {
  type    = "exec"
  command = ["./coder", "--think-harder"]
}

escalation "standard" {
  rule {
    when  = "error.kind == 'blocking'"
    level = "peer_assist"
  }

  rule { level = "self_heal" } # when retries are used up

  level "self_heal" {
    workflow = workflow.mend
    with     = { problem = error.message }
  }

  level "peer_assist" { reassign = agent.senior }

  level "human" { # flowrun inbox, flowrun decide
    await = "decision"
    after = "15m"
  }
}

workflow "ship" {
  default = true
  step "build" {
    agent    = agent.coder
    task     = "Build the change"
    with     = { hint = try(healed.hint, null) }
    escalate = escalation.standard
    retry { max_attempts = 3 }
  }
}

workflow "mend" {
  input "problem" { type = string }

  step "look" {
    agent  = agent.senior
    task   = input.problem
    output = object({ hint = string })
  }

  output "hint" { value = step.look.output.hint }
}
`

// topBlocks are the blocks that stand at the top of a file, and those of values that are given from outside.
var topBlocks = map[string]*Block{
	"variable": {Label: "name", Doc: "A value that is given from outside and read as var.NAME.", Blocks: []string{"validation"},
		Attrs: attrs(typ, deft, desc, enum, hide)},
	"input": {Label: "name", Doc: "A value that a run of the workflow is given, read as input.NAME.", Blocks: []string{"validation"}, Example: inputExample,
		Attrs: attrs(typ, deft, desc, enum, hide,
			Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge the value as result.output before anything starts, in order: conditions, schemas and scans. A run with a value that does not pass fails (blocking, reason gate), and nothing of it starts; a gate with on_fail = \"warn\" warns."})},
	"approve.input": {Label: "name", Doc: "A value that whoever approves gives: step.NAME.output.input.INPUT. It is checked before the decision is recorded.", Blocks: []string{"validation"},
		Attrs: attrs(typ, deft, desc, enum)},
	"validation": {Doc: "A condition that a value must meet before anything starts.", Attrs: attrs(cond, say)},
	"flowrun": {Doc: "Settings of the program.", Attrs: attrs(
		Attr{Name: "required_version", Kind: Text, Doc: "The releases of flowrun that the program is for, such as \">= 0.3, < 2\"."},
		Attr{Name: "engine", Kind: Text, Default: `"local"`, Doc: "What drives runs."}, later("flowrun.store"))},
	"locals": {Doc: "Named expressions over variables and other locals, read as local.NAME.", Free: true},

	"agent": {Label: "name", Doc: "Somebody or something that does tasks. No task of an agent starts in any run of the store while the agent is stopped (flowrun agents stop NAME), and none before the moment that its error of the kind rate_limited names.",
		Blocks: []string{"retry", "memory", "circuit_breaker", "rate_limit", "resources", "classify"},
		Attrs: attrs(
			Attr{Name: "type", Kind: Word, Words: []string{"exec", "shell", "http", "human", "null"}, Required: true, Doc: "How the agent is spoken to: a program with flowrun's JSON protocol, a shell script, a URL that the same request is sent to, a person, or nothing at all (returns what it was given). The task of a person stands in the inbox, holds no slot, and is answered by flowrun decide: done with the output, or fail."},
			Attr{Name: "command", Kind: Value, Want: value.AnyType, Doc: "Program and arguments of an exec agent."},
			Attr{Name: "run", Kind: Command, Doc: "Script of a shell agent."},
			Attr{Name: "url", Kind: Value, Want: value.StringType, Doc: "Address of an http agent."},
			Attr{Name: "method", Kind: Word, Words: []string{"POST", "PUT", "PATCH"}, Default: `"POST"`, Doc: "Method of the requests to an http agent."},
			Attr{Name: "headers", Kind: Value, Want: value.AnyType, Doc: "An object of header fields of the requests to an http agent."},
			sh, dir, env,
			Attr{Name: "pass_env", Kind: Strings, Doc: "Names in flowrun's own environment that the agent is given; the nearest list wins."},
			Attr{Name: "input", Kind: Word, Words: []string{"json", "text"}, Default: `"json"`, Doc: "What the agent reads on standard input: a JSON request, or the task as plain text."},
			Attr{Name: "output_format", Kind: Word, Words: []string{"json", "text"}, Default: `"json"`, Doc: "What the agent writes: JSON lines, or plain text."},
			Attr{Name: "concurrency", Kind: Value, Want: value.IntType, Min: 1, Max: MaxConcurrency, Doc: "How many tasks an agent of this name does at once, over all runs of a store. An attempt that finds the agent busy for a second waits without a slot, and goes on as soon as the agent is free."},
			time,
			Attr{Name: "output", Kind: Type, Doc: "Type of the agent's output."},
			Attr{Name: "heartbeat", Kind: Duration, Doc: "Longest silence while the agent works: one that says nothing for longer is lost, and the same attempt starts again; the third time it has failed."},
			Attr{Name: "soul", Kind: Value, Want: value.StringType, Doc: "Who the agent is: a text that stands before each of its tasks, whole, and that nothing shortens or changes. file(\"PATH\") reads it from a file."},
			Attr{Name: "capabilities", Kind: Strings, Default: "none", Doc: "What the agent can do, in words of your own such as \"gpu\". Steps ask for it with their own capabilities."},
			quot, later("agent.model", "agent.tool", "agent.prompt"))},

	"quota": {Label: "name", Doc: "A bound that all runs of a store share: units that attempts hold, how many attempts start in a span of time, what they spend in one, and when nothing starts after failures. Agents, steps, groups and workflows take of it with the attribute quota. Inside of what holds a quota, also in what it calls, only quotas can be taken that are declared further down in the file; so no runs wait for each other forever.",
		Blocks:  []string{"rate_limit", "circuit_breaker"},
		Example: quotaExample,
		Attrs: attrs(
			Attr{Name: "capacity", Kind: Value, Want: value.IntType, Min: 1, Max: MaxConcurrency, Default: "no bound", Doc: "How many units there are."},
			Attr{Name: "attempts", Kind: Value, Want: value.IntType, Min: 1, Max: MaxBudget, Default: "no bound", Doc: "How many attempts may start in any span of per. One that is told when to come back does not count."},
			Attr{Name: "tokens", Kind: Value, Want: value.NumberType, Min: 1, Max: MaxBudget, Default: "no bound", Doc: "How many tokens agents may use in any span of per, in and out. They count when an attempt has ended, so the attempts that run can exceed the bound."},
			Attr{Name: "cost_usd", Kind: Value, Want: value.NumberType, Min: MinCost, Max: MaxBudget, Default: "no bound", Doc: "How many dollars agents may cost in any span of per, counted as tokens are."},
			Attr{Name: "per", Kind: Duration, Doc: "The span of attempts, tokens and cost_usd, such as \"24h\". Where they are used up, nothing of the quota starts until enough of it lies a span back."})},

	"routine": {Label: "name", Doc: "Starts a workflow by the clock. Each moment of its schedule starts one run, whatever process is killed when; flowrun apply registers the routines of its program; flowrun serve starts their runs, and apply does while it lives. run.cause of a run has the moment as scheduled_at, and run.started_at says when it really began. flowrun routines next prints the moments, flowrun explain schedule says how a schedule is written and what becomes of daylight saving.",
		Example: routineExample,
		Attrs: attrs(
			Attr{Name: "cron", Kind: Text, Doc: "When: five fields for minute, hour, day of the month, month and day of the week, such as \"0 2 * * MON-FRI\"; or @hourly, @daily, @weekly, @monthly or @yearly. CRON_TZ=ZONE may stand in front."},
			Attr{Name: "every", Kind: Duration, Doc: "When, in place of cron: the moments that are a whole number of these spans after 1970-01-01T00:00:00Z, such as each quarter of an hour for \"15m\"."},
			Attr{Name: "timezone", Kind: Text, Default: `"UTC"`, Doc: "The zone in which cron is read, by its name in the tz database, such as \"Europe/Berlin\"."},
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Required: true, Doc: "The workflow that is started."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Default: "no inputs", Doc: "An object of the inputs of the workflow, from var and local. A moment for which it cannot be computed is a dead letter: flowrun dlq redrive starts its run."},
			Attr{Name: "overlap", Kind: Word, Words: []string{"skip", "queue", "cancel_previous", "allow"}, Default: `"skip", or "queue" with missed = "all"; what the block concurrency of the workflow says, if it has one`, Doc: "What a run does while an earlier run of the routine is under way: nothing, waits, cancels it, or runs beside it. The others are runs of the concurrency group routine:NAME."},
			Attr{Name: "missed", Kind: Word, Words: []string{"none", "latest", "all"}, Default: `"latest"`, Doc: "Which of the moments start runs that passed while nobody was there to start them: none, the latest, or all of them, the oldest first. Of all at most the latest 100 do; the others are counted."},
			Attr{Name: "jitter", Kind: Duration, Zero: true, Default: `"0s"`, Doc: "Delays each run by a span between zero and this one, which depends on the routine and the moment alone, so that routines with one schedule do not start at once."},
			Attr{Name: "paused", Kind: Flag, Default: "false", Doc: "Starts nothing by the clock while it is true. flowrun routines pause and resume do the same without a change of the file."})},

	"channel": {Label: "name", Doc: "A way to tell people something. Steps send to it with notify. A message is an object of title, text, level, run, workflow, node, kind, error, key, at and data. Sending is tried three times, after one and two seconds. A message that cannot be sent is a warning, and an entry of flowrun dlq; it is sent again with flowrun dlq redrive. After a crash a message can be sent a second time, with the same key.",
		Example: channelExample,
		Attrs: attrs(
			Attr{Name: "type", Kind: Word, Words: []string{"webhook", "slack", "ntfy", "smtp", "exec", "file", "bell"}, Required: true, Doc: "How a message is sent: as JSON to a URL, to Slack, to ntfy, as a mail, as JSON on the standard input of a program, as a line of JSON in a file, or by the bell of the terminal."},
			Attr{Name: "url", Kind: Value, Want: value.StringType, Doc: "Address of a webhook, of a webhook of Slack, or of a topic of ntfy. It can be a sensitive variable."},
			Attr{Name: "secret", Kind: Value, Want: value.StringType, Default: "none", Doc: "Of webhook, the key of the signature: the header X-Flowrun-Signature is  sha256=  and the HMAC in hex over the time of sending (the header X-Flowrun-Timestamp, in Unix seconds), a dot, and the body. A receiver refuses a time that is too far away. Of ntfy, an access token; of smtp, the password of from. Take it from a sensitive variable."},
			Attr{Name: "headers", Kind: Value, Want: value.AnyType, Default: "none", Doc: "An object of header fields of webhook, slack and ntfy. They can be sensitive."},
			Attr{Name: "command", Kind: Value, Want: value.AnyType, Doc: "Program and arguments of exec. The program reads the message as JSON; a message is sent if it exits with 0."},
			Attr{Name: "host", Kind: Value, Want: value.StringType, Doc: "Mail server of smtp, as HOST or HOST:PORT; the port is 587 by default. The connection is encrypted with STARTTLS where the server offers it. Without it nothing is sent that has a secret, and a server that is not this machine gets nothing."},
			Attr{Name: "from", Kind: Value, Want: value.StringType, Doc: "Address of the sender of mails."},
			Attr{Name: "to", Kind: Value, Want: value.AnyType, Doc: "Address of the receiver of mails, or a list of addresses."},
			Attr{Name: "path", Kind: Value, Want: value.StringType, Doc: "File that gets a line for each message, relative to the program's folder."},
			Attr{Name: "dedupe", Kind: Duration, Zero: true, Default: `"10m"`, Doc: "How long messages count as equal over all runs of a store: those to one channel about the same workflow, node without its instance, kind of message, and kind and reason of the error. The first is sent, the others are counted, and the next one that is sent says how many there were. \"0s\" sends each of them."})},

	"on": {Label: "event", AnyLabel: true, Doc: "Starts a workflow for each event of a name, such as order.paid; order.* stands for all names that begin so. flowrun apply registers the blocks on of its program. Each event that is published from then on starts one run, whatever process is killed when; run.cause of that run names the event. While apply lives it starts these runs and drives them to their end. An event that cannot start a run is a dead letter: its data is not of the type, when or with cannot be computed, or 32 events led to it, each published by a run that the one before has started. The event flowrun.run is the end of a run that no other run called: an object of run, workflow, status, retry_of and error; flowrun publishes it where a block on is for it. The runs that it starts end, too: ask event.workflow in when. The event flowrun.target is that of a loop that misses a target or meets it again: an object of loop, target, state, wanted and is. The event webhook.NAME is a delivery to the webhook NAME of flowrun serve: an HTTP request POST /webhooks/NAME with a body of 256 KiB at most and a signature. It is an object of body (the JSON value, or the text), headers and delivery (the id). The daemon answers 200 when the event is durable. It refuses a delivery whose signature is wrong, whose time is more than 5 minutes away, or whose signature was used for another id; a second delivery with the same id within 7 days starts nothing and is answered as the first. The route needs no token. The event file.NAME is a change of a file that paths names: an object of path, change (created, changed or removed), size in bytes and modified (in RFC 3339); of a removed file they are 0 and empty. The daemon looks at the files again and again. It finds changes from the time of the registration on, also those that were made while no daemon ran, and each state of a file that it finds is one event.",
		Example: onExample,
		Attrs: attrs(
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Required: true, Doc: "The workflow that is started."},
			Attr{Name: "when", Kind: Condition, Default: "true", Doc: "Whether the event starts a run: a condition over event, var and local."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Default: "no inputs", Doc: "An object of the inputs of the workflow, from event, var and local."},
			Attr{Name: "data", Kind: Type, Default: "any", Doc: "Type of the event's data, which is read as event; of a webhook, type of event.body."},
			Attr{Name: "secret", Kind: Value, Want: value.StringType, Doc: "Of webhook.NAME, which needs it: the key of the signatures, a sensitive variable:  secret = var.NAME. The daemon reads it where the program got it, from its environment or a file; the store never has it."},
			Attr{Name: "signature", Kind: Word, Words: []string{"standard", "github", "hmac"}, Default: `"standard"`, Doc: "Of webhook.NAME: how deliveries are signed, always with HMAC-SHA-256. standard is the Standard Webhooks specification, with the headers webhook-id, webhook-timestamp and webhook-signature; a key that begins with whsec_ is in base64. github is X-Hub-Signature-256 over the body, with X-GitHub-Delivery as the id. hmac is a header that header names, with the HMAC in hex or base64, also with sha256= before it, over the body; with timestamp, over the time, a dot and the body."},
			Attr{Name: "header", Kind: Text, Doc: "Of signature = \"hmac\", which needs it: the header with the signature."},
			Attr{Name: "timestamp", Kind: Text, Default: "none", Doc: "Of signature = \"hmac\": the header with the time of sending, in Unix seconds. Without it a delivery that somebody has recorded is refused for 7 days, and not after that."},
			Attr{Name: "id", Kind: Text, Default: "none", Doc: "Of signature = \"hmac\": the header with the id of the delivery. Without it the signature is the id, so that a delivery with the same body, and with the same time if there is one, counts once."},
			Attr{Name: "headers", Kind: Strings, Default: "none", Doc: "Of webhook.NAME: names of header fields that event.headers has, in small letters; one that a delivery lacks is an empty text. github has x-github-event without being asked. Headers with signatures and credentials cannot be named: events are kept in the store."},
			Attr{Name: "paths", Kind: Strings, Doc: "Of file.NAME, which needs it: patterns of the files, such as \"inbox/*.csv\" or \"src/**/*.go\", from the folder in which runs of the program begin. * and ? stand for characters of one name, [a-z] for one of them, and ** for any number of folders. At most 10,000 files."},
			Attr{Name: "debounce", Kind: Duration, Default: `"1s"`, Doc: "Of file.NAME: how long a file stays as it is before its change is an event. A file that is still being written is none."})},

	"pool": {Label: "name", Doc: "Agents that share tasks. It stands wherever an agent is given a task: one of its members does it. .agent of the step names the member.", Example: poolExample,
		Attrs: attrs(
			Attr{Name: "members", Kind: Refs, RefKind: "agent", Required: true, Doc: "The agents of the pool, each once."},
			Attr{Name: "strategy", Kind: Word, Words: []string{"least_busy", "round_robin", "capability"}, Default: `"least_busy"`, Doc: "Which member is given a task, of those that have the capabilities of the step and a free place: the one with the fewest attempts in this run, the next in the circle, or the one with the fewest capabilities beyond those that are asked for. Where several are equal, the next of them in the circle is."})},

	"escalation": {Label: "name", Doc: "Who or what is asked for help when attempts fail. After each failed attempt, before retry, the rules are asked in order; the first that holds sends the node to its level. When retries and fallback agents are used up, a rule without when sends the node to its level, and an escalation without rules to its first level. A level that does not settle the failure leads to the next one; behind the last one follow degrade and on_error. A level is entered once by each instance and iteration of a node. A failure of a group is one failed attempt of the group; another attempt makes all of the group again, as its next iteration.",
		Blocks: []string{"rule", "level"}, Example: escalationExample, Attrs: []Attr{}},

	"gate": {Label: "name", Doc: "Judges the result of an attempt: by a condition, a program's exit code or findings, a JSON Schema, an agent, or a scan.", Example: gateExample,
		Blocks: []string{"review", "benchmark", "security"},
		Attrs: attrs(
			Attr{Name: "check", Kind: Condition, Doc: "A condition over result, which is what is being judged."},
			Attr{Name: "run", Kind: Command, Doc: "A program that passes the result by exiting with 0."},
			Attr{Name: "findings", Kind: Word, Words: []string{"sarif", "json"}, Doc: "The findings that run prints judge, whatever its exit code: SARIF, or JSON, which is a list of objects with severity and message, and perhaps file and line, or an object with such a list as findings. What cannot be read does not pass."},
			severity,
			Attr{Name: "schema", Kind: Value, Want: value.AnyType, Doc: "A JSON Schema, as a value or as its text, that the output must fit."},
			Attr{Name: "message", Kind: Value, Want: value.StringType, Doc: "What to say when the gate does not pass. What the gate itself said follows below it."},
			Attr{Name: "on_fail", Kind: Word, Words: []string{"fail", "retry", "warn", "escalate"}, Default: `"fail"`, Doc: "What a verdict of no does: fails the attempt, makes another one that can read it as feedback, is told only, or goes to the node's escalation at once, without retries and fallback agents."},
			dir, env, pass, sh, time, later("gate.retry"))},

	"workflow": {Label: "name", Doc: "A graph of steps that a run carries out.",
		Blocks: blocks([]string{"input", "output", "retry", "finally", "concurrency", "require", "budget", "classify", "adapt"}, innerNodes),
		Attrs: attrs(desc,
			Attr{Name: "default", Kind: Flag, Default: "false", Doc: "Runs where a program has several workflows and none is named."},
			Attr{Name: "max_concurrency", Kind: Value, Want: value.IntType, Min: 1, Max: MaxConcurrency, Default: "8", Doc: "How many attempts of a run may be live at once."},
			Attr{Name: "timeout", Kind: Duration, Doc: "Longest time for a whole run. It stands still while nobody drives the run."},
			env, pass, dir, sh, hold,
			Attr{Name: "escalate", Kind: Ref, RefKind: "escalation", Doc: "The escalation of each step that has none of its own, but not of groups: a failure escalates once. Steps of finally have their own alone."})},
	"output": {Label: "name", Doc: "A result of the workflow, computed at its end.",
		Attrs: attrs(Attr{Name: "value", Kind: Value, Want: value.AnyType, Required: true, Doc: "What the output is."}, desc, later("output.sensitive"))},
}
