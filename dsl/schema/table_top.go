package schema

import (
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

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
  timeout = "30m"
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
  timeout = "30m"
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
  timeout = "30m"
}

agent "critic" {
  type    = "exec"
  command = ["critic"]
  timeout = "30m"
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
  timeout = "30m"
}

agent "backend" {
  type         = "exec"
  command      = ["backend"]
  timeout      = "30m"
  capabilities = ["go"]
  concurrency  = 2
}

agent "trainer" {
  type         = "exec"
  command      = ["trainer"]
  timeout      = "30m"
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
	"variable": {Label: "name", Doc: "A value from outside the program, read as var.NAME.", Blocks: []string{"validation"},
		Attrs: attrs(typ, deft, desc, enum, hide)},
	"input": {Label: "name", Doc: "A value that each run of the workflow receives, read as input.NAME.", Blocks: []string{"validation"}, Example: inputExample,
		Attrs: attrs(typ, deft, desc, enum, hide,
			Attr{Name: "gates", Kind: Refs, RefKind: "gate", Doc: "Gates that judge the value as result.output before anything starts, in order: conditions, schemas and scans. If a value does not pass, the run fails with the kind blocking and the reason gate before any node starts; a gate with on_fail = \"warn\" only warns."})},
	"approve.input": {Label: "name", Doc: "A value that the approver enters, read as step.NAME.output.input.INPUT. It is checked before the decision is recorded.", Blocks: []string{"validation"},
		Attrs: attrs(typ, deft, desc, enum)},
	"validation": {Doc: "A condition that a value must meet before anything starts.", Attrs: attrs(cond, say)},
	"flowrun": {Doc: "Settings for the whole program.", Attrs: attrs(
		Attr{Name: "required_version", Kind: Text, Doc: "The releases of flowrun that the program is for, such as \">= 0.3, < 2\"."},
		Attr{Name: "engine", Kind: Text, Default: `"local"`, Doc: "Where flowrun apply starts runs of the program: \"local\" is the store of this machine, temporal://HOST:PORT/NAMESPACE a Temporal server. ?queue=NAME after the namespace names the task queue. The flag --engine overrides FLOWRUN_ENGINE, which overrides the file; --store chooses the store."}, later("flowrun.store"))},
	"locals": {Doc: "Named expressions over variables and other locals, read as local.NAME.", Free: true},

	"agent": {Label: "name", Doc: "A program, service or person that carries out tasks. While an agent is stopped (flowrun agents stop NAME), none of its tasks starts in any run of the store. After an error of the kind rate_limited with a time to retry, its tasks wait until that time.",
		Blocks: []string{"retry", "memory", "circuit_breaker", "rate_limit", "resources", "classify", "prices", "permission", "server"},
		Attrs: attrs(
			Attr{Name: "type", Kind: Word, Words: []string{"exec", "shell", "http", "mcp", "acp", "a2a", "chat", "human", "null"}, Required: true, Doc: "Kind of agent; a preset gives it, too. exec: a program that speaks flowrun's JSON protocol or plain text. shell: a shell script. http: a service that gets the same request by POST. mcp: a tool of an MCP server; the arguments are with of the step. acp: a program that speaks the Agent Client Protocol, as many coding agents do. a2a: a service that speaks the Agent2Agent protocol. chat: a model behind the API of a provider; soul is its system message, and the task, with, the memory and the feedback are the message of the user. human: a person; the task waits in flowrun inbox without a slot, and flowrun decide answers it with done and the output, or fail. null: no agent; the output is the input."},
			Attr{Name: "preset", Kind: Word, Words: Presets, Doc: "Known agent. It gives the attributes that the block does not have: the program, its arguments, how it reads and prints. The agent receives the environment variables that the preset names, such as API keys. flowrun agents show NAME --expanded prints the result."},
			Attr{Name: "command", Kind: Value, Want: value.AnyType, Doc: "Program and arguments of an exec or acp agent, or of the server of an mcp agent."},
			Attr{Name: "run", Kind: Command, Doc: "Script of a shell agent."},
			Attr{Name: "url", Kind: Value, Want: value.StringType, Doc: "Address of an http agent, of the server of an mcp agent (streamable HTTP), or of an a2a agent: its agent card, or the address where /.well-known/agent-card.json is below."},
			Attr{Name: "method", Kind: Word, Words: []string{"POST", "PUT", "PATCH"}, Default: `"POST"`, Doc: "Method of the requests to an http agent."},
			Attr{Name: "headers", Kind: Value, Want: value.AnyType, Doc: "Object of header fields for requests to an http, a2a or chat agent, or to the server of an mcp agent. flowrun sends them to the origin of url only."},
			sh, dir, env,
			Attr{Name: "pass_env", Kind: Strings, Doc: "Environment variables of flowrun that the agent receives. The nearest list wins."},
			Attr{Name: "input", Kind: Word, Words: []string{"json", "text"}, Default: `"json"`, Doc: "Input of the agent on standard input: a JSON request, or the task as plain text."},
			Attr{Name: "output_format", Kind: Word, Words: []string{"json", "text", "assistant"}, Default: `"json"`, Doc: "Output of the agent. json: JSON lines, or one object. text: plain text. assistant: the JSON of command-line assistants (Claude Code, Codex, Gemini), in which the answer is the text result. Without a type, the output is all of that JSON; with the type of an object without the attribute result, it is the answer, and with input = \"text\" the task ends with a request for JSON of this type; with output = string, it is the text of the answer."},
			Attr{Name: "new_session", Kind: Strings, Default: "none", Doc: "Arguments after the command of an exec agent that begin a session. flowrun replaces {session} with the id of the session, a new UUID:  [\"--session-id\", \"{session}\"]. Without it, flowrun reads the id from the agent's first event (Codex)."},
			Attr{Name: "resume_session", Kind: Strings, Default: "none", Doc: "Arguments after the command of an exec agent that continue the session of an interrupted attempt:  [\"--resume\", \"{session}\"]. An attempt is interrupted if flowrun, the machine or the agent dies, and at a timeout, a limit or a transient error. After other failures, the next attempt begins a new session, unless keep_session is true. The presets claude, codex and gemini have these arguments; an agent with its own command must set them."},
			Attr{Name: "keep_session", Kind: Flag, Default: "false", Doc: "Whether the session continues after a gate has refused the work, and in the next round of a repeat, a feedback or a revision. The agent then remembers its work, and gets the feedback. By default, the next attempt begins a new session without the earlier conversation. Only for exec, shell and acp agents that have sessions."},
			Attr{Name: "concurrency", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxConcurrency, Doc: "How many tasks the agent does at once, over all runs of a store. An attempt that finds the agent busy for a second gives up its slot, and starts as soon as the agent is free."},
			time,
			Attr{Name: "output", Kind: Type, Doc: "Type of the agent's output."},
			Attr{Name: "heartbeat", Kind: Duration, Doc: "Longest silence allowed. If an agent is silent for longer, it is stopped, and the attempt starts again; the third time, the attempt fails."},
			Attr{Name: "soul", Kind: Value, Want: value.StringType, Doc: "Identity of the agent: a text that flowrun puts before each task, complete and unchanged. file(\"PATH\") reads it from a file."},
			Attr{Name: "capabilities", Kind: Strings, Default: "none", Doc: "Capabilities of the agent, in your own words, such as \"gpu\". A step requires them with its attribute capabilities."},
			Attr{Name: "provider", Kind: Word, Words: Providers, Doc: "Whose API a chat agent speaks. openai also means the many servers with the same API, at base_url; anthropic is the Messages API; gemini is the API generateContent. With a type, the provider gets it as a JSON Schema and flowrun checks the answer; without a type, the output is the text."},
			Attr{Name: "api", Kind: Word, Words: []string{"chat", "responses"}, Default: `"chat"`, Doc: "Which API of openai: chat completions, or responses."},
			Attr{Name: "model", Kind: Value, Want: value.StringType, Doc: "Model of a chat agent, in the provider's spelling."},
			Attr{Name: "base_url", Kind: Value, Want: value.StringType, Default: "the provider's", Doc: "Address of a chat agent's API. flowrun adds /chat/completions or /responses for openai, /v1/messages for anthropic, and /v1beta/models/MODEL:streamGenerateContent for gemini."},
			Attr{Name: "key", Kind: Value, Want: value.StringType, Default: "none", Doc: "API key of a chat agent. Read it from a sensitive variable:  key = var.NAME."},
			Attr{Name: "key_env", Kind: Text, Default: "none", Doc: "Instead of key: the environment variable with the API key, in the process that carries out the attempt; on Temporal, the worker. flowrun masks its value like that of a sensitive variable."},
			Attr{Name: "max_tokens", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxChatTokens, Default: "the provider's; 8192 for anthropic", Doc: "Maximum number of tokens of a chat agent's answer. A longer answer fails with the kind blocking and the reason max_tokens."},
			Attr{Name: "temperature", Kind: Value, Want: value.NumberType, Min: 0, Max: limits.MaxTemperature, Default: "the model's", Doc: "How random the answers of a chat agent are."},
			Attr{Name: "max_turns", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxTurns, Default: "20", Doc: "Maximum number of answers of the model in one attempt of a chat agent with the server block. If the last of these answers still calls tools, the attempt fails with the kind blocking and the reason max_turns."},
			Attr{Name: "context_tokens", Kind: Value, Want: value.IntType, Min: limits.MinContext, Max: limits.MaxChatTokens, Default: "no limit", Doc: "Maximum number of tokens, as flowrun estimates them, that a chat agent with the server block sends to the model at once: soul, tools, task and the conversation so far. At 80 percent of it, a summary replaces the older results of tools; the task and the latest messages stay as they are."},
			Attr{Name: "tool", Kind: Text, Doc: "Tool that an mcp agent calls. The output is the structured content of the result, or else its text; with an output type that is not a string, the text is read as JSON."},
			Attr{Name: "pin", Kind: Value, Want: value.StringType, Default: "none", Doc: "Description of the tool of an mcp agent, as  flowrun agents pin NAME  prints it:  pin = file(\"search.tool.json\"). With a pin, validate checks the attribute with of each step against the tool's schema, and a server with another description of the tool is refused before the tool is called, with the kind blocking and the reason pin."},
			Attr{Name: "files", Kind: Word, Words: []string{"none", "read", "write"}, Default: `"none"`, Doc: "Which text files flowrun reads, or reads and writes, for an acp agent that asks it to. They are below the folder of the attempt; links that lead out of it are refused."},
			quot, later("agent.prompt"))},

	"quota": {Label: "name", Doc: "A limit that all runs of a store share: units that attempts hold, attempts or cost in a time window, a rate limit, or a circuit breaker. Agents, steps, groups and workflows take a quota with the attribute quota. A node that holds a quota, and the workflows that it calls, can only take quotas that are declared further down in the file, so runs cannot deadlock.",
		Blocks:  []string{"rate_limit", "circuit_breaker"},
		Example: quotaExample,
		Attrs: attrs(
			Attr{Name: "capacity", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxConcurrency, Default: "no limit", Doc: "Number of units."},
			Attr{Name: "attempts", Kind: Value, Want: value.IntType, Min: 1, Max: MaxBudget, Default: "no limit", Doc: "How many attempts may start in any window of length per. An attempt that gets a time to retry does not count."},
			Attr{Name: "tokens", Kind: Value, Want: value.NumberType, Min: 1, Max: MaxBudget, Default: "no limit", Doc: "How many tokens, input and output, agents may use in any window of length per. Tokens count when an attempt ends, so running attempts can exceed the limit."},
			Attr{Name: "cost_usd", Kind: Value, Want: value.NumberType, Min: MinCost, Max: MaxBudget, Default: "no limit", Doc: "How many dollars agents may cost in any window of length per, counted like tokens."},
			Attr{Name: "per", Kind: Duration, Doc: "Window of attempts, tokens and cost_usd, such as \"24h\". When they are used up, attempts wait until enough usage is older than the window."})},

	"routine": {Label: "name", Doc: "Starts a workflow on a schedule. Each scheduled time starts exactly one run, even if processes are killed. flowrun apply registers the routines of its program; flowrun serve, or a running apply, starts their runs. run.cause.scheduled_at is the scheduled time, run.started_at the actual start. flowrun routines next prints the scheduled times; flowrun explain schedule describes schedules and daylight saving time.",
		Example: routineExample,
		Attrs: attrs(
			Attr{Name: "cron", Kind: Text, Doc: "When: five fields for minute, hour, day of the month, month and day of the week, such as \"0 2 * * MON-FRI\"; or @hourly, @daily, @weekly, @monthly or @yearly. CRON_TZ=ZONE may come first."},
			Attr{Name: "every", Kind: Duration, Doc: "When, instead of cron: at multiples of this duration since 1970-01-01T00:00:00Z. \"15m\" means every quarter of an hour."},
			Attr{Name: "timezone", Kind: Text, Default: `"UTC"`, Doc: "Time zone of cron, a name of the tz database such as \"Europe/Berlin\"."},
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Required: true, Doc: "Workflow to start."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Default: "no inputs", Doc: "Object with the inputs of the workflow. It can read var and local. If it cannot be evaluated, the scheduled time becomes a dead letter: flowrun dlq redrive starts its run."},
			Attr{Name: "overlap", Kind: Word, Words: []string{"skip", "queue", "cancel_previous", "allow"}, Default: `"skip", or "queue" with missed = "all"; the concurrency block of the workflow, if it has one`, Doc: "What happens if an earlier run of the routine is still running. skip: no new run. queue: the new run waits. cancel_previous: the earlier run is cancelled. allow: both run. Except with allow, the runs belong to the concurrency group routine:NAME."},
			Attr{Name: "missed", Kind: Word, Words: []string{"none", "latest", "all", "skip", "once"}, Default: `"latest"`, Doc: "Which missed times start a run later, if no process was running at the time: none, the latest, or all, oldest first. skip means none, and once means latest. all starts at most the latest 100; flowrun counts the others."},
			Attr{Name: "jitter", Kind: Duration, Zero: true, Default: `"0s"`, Doc: "Delays each run by a random time up to this value, so that routines with the same schedule do not start at once. The delay depends only on the routine and the scheduled time."},
			Attr{Name: "paused", Kind: Flag, Default: "false", Doc: "Pauses the schedule while it is true. flowrun routines pause and resume do the same without a change of the file."})},

	"channel": {Label: "name", Doc: "A way to notify people. Steps send messages with notify. A message is an object of title, text, level, run, workflow, node, kind, error, key, at, decide (the command that answers a question), url and data. url is the page of the run or node in the dashboard, if the variable FLOWRUN_URL of the environment has the address of the dashboard, such as https://flowrun.example.com. flowrun tries to send it three times, after one and two seconds. A message that cannot be sent causes a warning and becomes a dead letter; flowrun dlq redrive sends it again. After a crash a message can be sent twice, with the same key.",
		Example: channelExample,
		Attrs: attrs(
			Attr{Name: "type", Kind: Word, Words: []string{"webhook", "slack", "ntfy", "smtp", "exec", "file", "bell"}, Required: true, Doc: "How messages are sent: as JSON to a URL, to Slack, to ntfy, by mail, as JSON to the standard input of a program, as a line of JSON in a file, or by the bell of the terminal."},
			Attr{Name: "url", Kind: Value, Want: value.StringType, Doc: "Address of a webhook, of a Slack webhook, or of an ntfy topic. It can be a sensitive variable."},
			Attr{Name: "secret", Kind: Value, Want: value.StringType, Default: "none", Doc: "For webhook, the key of the signature: the header X-Flowrun-Signature is  sha256=  and the HMAC in hex over the header X-Flowrun-Timestamp (Unix seconds), a dot, and the body. Receivers should reject old timestamps. For ntfy, an access token; for smtp, the password of from. Read it from a sensitive variable."},
			Attr{Name: "headers", Kind: Value, Want: value.AnyType, Default: "none", Doc: "Object of header fields for webhook, slack and ntfy. The values can be sensitive."},
			Attr{Name: "command", Kind: Value, Want: value.AnyType, Doc: "For exec, the program and its arguments. The program reads the message as JSON; the message is sent if the program exits with 0."},
			Attr{Name: "host", Kind: Value, Want: value.StringType, Doc: "Mail server of smtp, as HOST or HOST:PORT; the port is 587 by default. flowrun encrypts the connection with STARTTLS if the server offers it. Without encryption, it sends only to this machine, and never a secret."},
			Attr{Name: "from", Kind: Value, Want: value.StringType, Doc: "Address of the sender of emails."},
			Attr{Name: "to", Kind: Value, Want: value.AnyType, Doc: "Address of the receiver of emails, or a list of addresses."},
			Attr{Name: "path", Kind: Value, Want: value.StringType, Doc: "File to append messages to, relative to the program's folder."},
			Attr{Name: "dedupe", Kind: Duration, Zero: true, Default: `"10m"`, Doc: "Suppresses equal messages for this time, over all runs of a store. Messages to one channel are equal if the workflow, the node (without its instance), the kind of message, and the kind and reason of the error are equal. The first is sent, the others are counted, and the next message sent reports their number. \"0s\" sends every message."})},

	"on": {Label: "event", AnyLabel: true, Doc: "Starts a workflow for each event with this name, such as order.paid; order.* matches all names with this prefix. flowrun apply registers the  on  blocks of its program. Each event that is published later starts exactly one run, even if processes are killed; run.cause of that run names the event. flowrun serve, or a running apply, starts these runs and runs them to their end. An event that cannot start a run becomes a dead letter: when is not false and its data has another type, when or with cannot be evaluated, or a chain of 32 events and runs led to it. flowrun publishes the event flowrun.run at the end of each run that was not called by another run, if an  on  block uses it: an object of run, workflow, status, retry_of and error. The runs that it starts end, too: check event.workflow in when. The event flowrun.dlq announces a dead letter: an object of id, kind, workflow, run, node, item, error and times. A run that this event starts makes no dead letter itself. The event flowrun.target announces that a loop misses a target, or meets it again: an object of loop, target, state, wanted and is. The event flowrun.loop announces that people pause, resume or stop a running loop, that the loop reaches one of its limits, or that it stops an agent: an object of loop, state (paused, resumed, stopped, limit or agent_stopped), agent (null: all), reason, and until (null: without an end). The event webhook.NAME is a delivery to flowrun serve: an HTTP request POST /webhooks/NAME with a signature and a body of at most 256 KiB. It is an object of body (the JSON value, or the text), headers and delivery (the id). The daemon answers 200 when the event is durable. It refuses a delivery with a wrong signature, with a time more than 5 minutes off, or with a signature that was used for another id. A second delivery with the same id within 7 days starts nothing and gets the same answer. The route needs no token. The event file.NAME is a change of a file that matches paths: an object of path, change (created, changed or removed), size in bytes and modified (in RFC 3339); for a removed file, size is 0 and modified is empty. The daemon polls the files. It finds all changes since the registration, also changes made while no daemon was running. Each new state of a file that it finds is one event.",
		Example: onExample,
		Attrs: attrs(
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Required: true, Doc: "Workflow to start."},
			Attr{Name: "when", Kind: Condition, Default: "true", Doc: "Whether the event starts a run: a condition over event, var and local. It also reads data of another type than the declared one: if it is false, the event is ignored and is not a dead letter."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Default: "no inputs", Doc: "Object with the inputs of the workflow. It can read event, var and local."},
			Attr{Name: "data", Kind: Type, Default: "any", Doc: "Type of the event's data, read as event; for a webhook, type of event.body."},
			Attr{Name: "secret", Kind: Value, Want: value.StringType, Doc: "For webhook.NAME, required: the key of the signatures, a sensitive variable:  secret = var.NAME. The daemon reads it from the same source as the program, its environment or a file; the store never contains it."},
			Attr{Name: "signature", Kind: Word, Words: []string{"standard", "github", "hmac"}, Default: `"standard"`, Doc: "For webhook.NAME: how deliveries are signed, always with HMAC-SHA-256. standard: the Standard Webhooks specification, with the headers webhook-id, webhook-timestamp and webhook-signature; a key that begins with whsec_ is base64. github: X-Hub-Signature-256 over the body, with X-GitHub-Delivery as the id. hmac: the attribute header names a header with the HMAC in hex or base64, with or without the prefix sha256=, over the body; with timestamp, over the time, a dot and the body."},
			Attr{Name: "header", Kind: Text, Doc: "For signature = \"hmac\", required: the header with the signature."},
			Attr{Name: "timestamp", Kind: Text, Default: "none", Doc: "For signature = \"hmac\": the header with the time of sending, in Unix seconds. Without it, replays of a recorded delivery are refused for only 7 days."},
			Attr{Name: "id", Kind: Text, Default: "none", Doc: "For signature = \"hmac\": the header with the id of the delivery. Without it, the signature is the id, so deliveries with the same body and the same time count once."},
			Attr{Name: "headers", Kind: Strings, Default: "none", Doc: "For webhook.NAME: names of header fields for event.headers, in lower case. A field that a delivery lacks is an empty text. github always includes x-github-event. Headers with signatures and credentials are not allowed, because events are kept in the store."},
			Attr{Name: "paths", Kind: Strings, Doc: "For file.NAME, required: patterns of files, such as \"inbox/*.csv\" or \"src/**/*.go\", relative to the working folder of the program's runs. * and ? match characters of one name, [a-z] one of these characters, and ** any number of folders. At most 10,000 files."},
			Attr{Name: "debounce", Kind: Duration, Default: `"1s"`, Doc: "For file.NAME: how long a file must stay unchanged before its change becomes an event. This avoids events for half-written files."})},

	"pool": {Label: "name", Doc: "Agents that share tasks. Use it wherever an agent can get a task: one member does the task, and .agent of the step names the member.", Example: poolExample,
		Attrs: attrs(
			Attr{Name: "members", Kind: Refs, RefKind: "agent", Required: true, Doc: "The agents of the pool, each once."},
			Attr{Name: "strategy", Kind: Word, Words: []string{"least_busy", "round_robin", "capability"}, Default: `"least_busy"`, Doc: "Which member gets a task, among the members with the capabilities of the step and a free slot. least_busy: the member with the fewest attempts in this run. round_robin: the next member in turn. capability: the member with the fewest other capabilities. Ties go to the next member in turn."})},

	"escalation": {Label: "name", Doc: "Handles failures of nodes with a list of levels, such as a healing workflow, another agent, or a person. After each failed attempt, before retry, flowrun evaluates the rules in order; the first rule that is true sends the node to its level. When retries and fallback agents are used up, a rule without when sends the node to its level; an escalation without rules sends it to the first level. If a level does not solve the problem, the next level follows. After the last level, degrade and on_error apply. Each instance and iteration of a node enters a level once. A failure of a group counts as one failed attempt of the group; another attempt repeats the whole group, as its next iteration.",
		Blocks: []string{"rule", "level"}, Example: escalationExample, Attrs: []Attr{}},

	"gate": {Label: "name", Doc: "Judges the result of an attempt: by a condition, a program's exit code or findings, a JSON Schema, an agent, or a scan.", Example: gateExample,
		Blocks: []string{"review", "benchmark", "security"},
		Attrs: attrs(
			Attr{Name: "check", Kind: Condition, Doc: "A condition over result, the result to judge."},
			Attr{Name: "run", Kind: Command, Doc: "A program. The result passes if it exits with 0."},
			Attr{Name: "findings", Kind: Word, Words: []string{"sarif", "json"}, Doc: "Format of the findings that run prints. The findings decide, and not the exit code. sarif: SARIF. json: a list of objects with severity and message, and optionally file and line, or an object with such a list as findings. Unreadable output does not pass."},
			severity,
			Attr{Name: "schema", Kind: Value, Want: value.AnyType, Doc: "A JSON Schema, as a value or as JSON text, that the output must satisfy."},
			Attr{Name: "message", Kind: Value, Want: value.StringType, Doc: "Message if the gate does not pass. The details from the gate follow below it."},
			Attr{Name: "on_fail", Kind: Word, Words: []string{"fail", "retry", "warn", "escalate"}, Default: `"fail"`, Doc: "What happens when the gate does not pass. fail: the attempt fails. retry: the step tries again with the gate's feedback, up to max_attempts of its retry, 3 by default. warn: the run only warns. escalate: the node goes to its escalation at once, without retries and fallback agents."},
			dir, env, pass, sh, time, later("gate.retry"))},

	"workflow": {Label: "name", Doc: "A graph of steps. A run executes it.",
		Blocks: blocks([]string{"input", "output", "retry", "finally", "concurrency", "require", "budget", "classify", "adapt"}, innerNodes),
		Attrs: attrs(desc,
			Attr{Name: "default", Kind: Flag, Default: "false", Doc: "Whether this workflow runs if the command names none. Needed if a program has several workflows."},
			Attr{Name: "max_concurrency", Kind: Value, Want: value.IntType, Min: 1, Max: limits.MaxConcurrency, Default: "8", Doc: "How many attempts of a run may run at once."},
			Attr{Name: "timeout", Kind: Duration, Doc: "Maximum time for a whole run. The clock stops while no process runs it."},
			env, pass, dir, sh, hold,
			Attr{Name: "escalate", Kind: Ref, RefKind: "escalation", Doc: "Default escalation of the steps, but not of groups: a failure escalates once. Steps in finally, waits and approvals use only their own escalation."})},
	"output": {Label: "name", Doc: "A result of the workflow, computed at the end of the run.",
		Attrs: attrs(Attr{Name: "value", Kind: Value, Want: value.AnyType, Required: true, Doc: "Value of the output."}, desc, later("output.sensitive"))},
}
