package schema

import "github.com/flowrun/flowrun/dsl/value"

// MaxLoopRate bounds how many items of a loop may begin in an hour.
const MaxLoopRate = 100_000

// loopExample has two agents do what is handed in; bugs go to a workflow of their own.
const loopExample = `agent "sam" {
  type         = "exec"
  command      = ["coder"]
  timeout      = "30m"
  capabilities = ["go"]
}

agent "leo" {
  type    = "exec"
  command = ["coder"]
  timeout = "30m"
}

pool "team" { members = [agent.sam, agent.leo] }

loop "engineering" {
  agents = [pool.team]
  lease  = "5m"

  source "dispatch" {}

  handle {
    when     = "'bug' in item.labels"
    workflow = workflow.fix
    with     = { title = item.title, worker = worker }
  }
  handle {
    workflow = workflow.feature
    with     = { title = item.title, worker = worker }
  }

  limits {
    tasks_per_hour       = 20
    consecutive_failures = 3
  }

  target {
    success_rate = 0.9
    mean_time    = "2h"
  }
}

workflow "fix" {
  input "title" { type = string }
  input "worker" { type = string }
  step "mend" {
    agent = pool.team[input.worker]
    task  = "Find the cause and mend it: ${input.title}"
  }
}

workflow "feature" {
  input "title" { type = string }
  input "worker" { type = string }
  step "build" {
    agent = pool.team[input.worker]
    task  = input.title
  }
}
`

// loopBlocks are loops and what stands in them.
var loopBlocks = map[string]*Block{
	"loop": {Label: "name", Example: loopExample,
		Doc:    "Finds the next piece of work for each free agent, and starts a workflow for it. The loop runs until it is stopped: flowrun loop run NAME runs it in the foreground, and flowrun serve runs the loops of all applied programs. flowrun asks the sources in the order of the file. An agent can take an open item if all its needs are closed, if the agent has its capabilities, and if it is neither claimed nor assigned to another agent. It takes the item with the highest priority, then the item that most others need, then the oldest, then the one with the smallest id; items of unknown age are taken in the order of the list. While the run of an item waits for a person, for an event, or for a time that is at least a lease away, its agent takes other items, and the run continues automatically later.",
		Blocks: []string{"source", "handle", "limits", "target"},
		Attrs: attrs(
			Attr{Name: "agents", Kind: Refs, RefKind: "agent", Pools: true, Required: true, Doc: "The agents, in the order in which they choose. A pool means all its members. An agent works on as many items at once as its concurrency allows, 1 by default."},
			Attr{Name: "quota", Kind: Quotas, Default: "none", Doc: "Quotas on which the whole loop depends: quota.NAME or [quota.A, quota.B]. While the breaker of a quota is open, or its budget is used up, the loop takes no item. The loop itself takes no units of the quotas."},
			Attr{Name: "lease", Kind: Duration, Default: `"5m"`, Doc: "How long a claim is valid without a renewal. After that, other agents can take the item."},
			Attr{Name: "heartbeat", Kind: Duration, Default: `"30s"`, Doc: "Interval at which a running item renews its claim; at most a third of the lease."},
			Attr{Name: "idle", Kind: Duration, Default: `"10s"`, Doc: "First wait before an idle loop asks its sources again. Each further wait is twice as long. Work from flowrun dispatch wakes the loop at once."},
			Attr{Name: "idle_max", Kind: Duration, Default: `"5m"`, Doc: "Longest wait of an idle loop."},
			Attr{Name: "worktree", Kind: Flag, Default: "false", Doc: "Gives the run of each item a git worktree: a working folder with its own branch, from the commit that is checked out in the repository of the program. The run works there: a relative dir, file or command is one of the worktree. run.cause.worktree is the folder, and run.cause.branch the branch. When the run has ended, the loop removes both if every change is committed and every commit is in another branch or a tag, or was squashed into one of their newest commits; it also removes files that git ignores. Otherwise both stay, flowrun loop items shows why, and the loop removes them after the branch was merged. Needs git."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "none", Doc: "Channels that get a message when a limit stops the loop, when a target is missed or met again, when a fatal failure stops an agent, and when an item becomes a dead letter."})},
	"source": {Label: "kind", Doc: "A source of items for a loop. \"dispatch\": work from flowrun dispatch and from hand-overs. \"backlog\": an external list of work. \"roadmap\": a file of plans. \"improvement\": workflows that run in turn when all other sources are empty. flowrun marks an item in its backlog when an agent takes it, checks before the run that it is still open, and reports the result. Each unstarted item of a roadmap becomes one ticket of the store, or with tickets of the backlog, identified by path, headings and title; flowrun ticks it off in the file when it is done. If a person removes the tick, the item is open again. flowrun backlog list shows the items of a file, and flowrun explain sources describes the protocol for programs and services.",
		Attrs: attrs(
			Attr{Name: "from", Kind: Word, Words: []string{"file", "github", "exec", "http"}, Doc: "For backlog, the kind of list: a Markdown or JSONL file, the issues of a repository on GitHub or on a server with the same API, a program, or a service."},
			Attr{Name: "path", Kind: Value, Want: value.StringType, Doc: "For roadmap and for backlog from file, the file, relative to the program's folder. Open items are taken, and items that an agent of this store left unfinished; nested items come before the item that contains them. Tags such as #role/backend, #skill/go and #capability/gpu are the capabilities that an item asks for."},
			Attr{Name: "tickets", Kind: Word, Words: []string{"store", "backlog"}, Default: `"store"`, Doc: "For roadmap, the destination of its unstarted items: tickets of the store, which the agents of the loop take, or items of the loop's backlog. Each item is added once, as soon as the items that it needs are done. flowrun ticks an item of the roadmap off when its backlog item is done, and does not change it if the backlog item was cancelled or removed."},
			Attr{Name: "command", Kind: Value, Want: value.AnyType, Doc: "For backlog from exec, the program and its arguments, as a list. It reads one request as a line of JSON on standard input."},
			Attr{Name: "url", Kind: Value, Want: value.StringType, Doc: "For backlog from http, the address for POST requests."},
			Attr{Name: "headers", Kind: Value, Want: value.AnyType, Default: "none", Doc: "For backlog from http, an object of header fields. The values can be sensitive."},
			Attr{Name: "repo", Kind: Value, Want: value.StringType, Doc: "For backlog from github, the repository: OWNER/NAME. Open issues are items, pull requests are not. An issue needs its open sub-issues, the issues that block it, and the issues that its text names with \"depends on\" or \"blocked by\". Labels such as P1 or \"priority: high\" are its priority, labels such as \"role: backend\", \"skill: go\" and \"capability: gpu\" the capabilities that it asks for."},
			Attr{Name: "base_url", Kind: Value, Want: value.StringType, Default: `"https://api.github.com"`, Doc: "For backlog from github, the address of the API, for GitHub Enterprise and for servers such as Gitea (https://HOST/api/v1)."},
			Attr{Name: "token", Kind: Value, Want: value.StringType, Default: "none", Doc: "For backlog from github, the access token. Take it from a sensitive variable."},
			Attr{Name: "labels", Kind: Value, Want: value.AnyType, Default: "all issues", Doc: "For backlog from github, a list of labels that an issue must have."},
			Attr{Name: "assignee", Kind: Value, Want: value.StringType, Default: "all issues", Doc: "For backlog from github, only issues that are assigned to this account; \"none\" means unassigned issues."},
			Attr{Name: "login", Kind: Value, Want: value.StringType, Default: "none", Doc: "For backlog from github, the account that taken issues are assigned to. Issues of other accounts are left alone."},
			Attr{Name: "claim_label", Kind: Value, Want: value.StringType, Default: "\"in progress\" without login, none with it", Doc: "For backlog from github, the label that taken issues get; \"\": none."},
			Attr{Name: "rotate", Kind: Refs, RefKind: "workflow", Doc: "For improvement, the workflows. They run in turn."},
			Attr{Name: "every", Kind: Duration, Default: "no pause", Doc: "For improvement, the minimum time between two starts."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "For improvement, the inputs of the workflows. They can read item and worker."})},
	"handle": {Doc: "Chooses the workflow for an item. The first handle with a true condition gets the item; an item without a handle stays in its source.",
		Attrs: attrs(
			Attr{Name: "when", Kind: Condition, Default: "every item", Doc: "Which items: a condition over item and worker. item has id, source, title, body, labels, priority, needs, capabilities, assignee, url, created_at, handoff and data; worker is the name of the agent. A condition that cannot be evaluated counts as false."},
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Required: true, Doc: "Workflow to run. Each claim of an item starts one run."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Inputs of the workflow. They can read item and worker. To use the agent that took the item, write  agent = pool.NAME[input.worker]."})},
	"limits": {Doc: "Limits of a loop. The loop stops when it reaches one.", Once: true, Attrs: attrs(
		Attr{Name: "tasks_per_hour", Kind: Value, Want: value.IntType, Min: 1, Max: MaxLoopRate, Default: "no limit", Doc: "Maximum number of items that begin in any hour. The loop then waits until it can start the next item."},
		Attr{Name: "consecutive_failures", Kind: Value, Want: value.IntType, Min: 1, Max: MaxFailures, Default: "no limit", Doc: "The loop stops after this many failed items in a row."},
		Attr{Name: "cost_usd_per_day", Kind: Value, Want: value.NumberType, Min: MinCost, Max: MaxBudget, Default: "no limit", Doc: "Maximum cost of items in 24 hours, in dollars. At the limit the loop takes no item until enough cost is older than 24 hours. Running items can exceed the limit."})},
	"target": {Doc: "Targets of a loop. flowrun compares them with the figures of the last 24 hours, counted by the hour. When a target is missed or met again, the loop sends a message to the channels of notify and publishes the event flowrun.target with loop, target, state (missed or met), wanted and is, at most once an hour for each target. flowrun loop status shows the figures. throughput and idle count from the first full hour on, the other figures from 10 items on.", Once: true, Attrs: attrs(
		Attr{Name: "throughput", Kind: Value, Want: value.NumberType, Min: 0.001, Max: MaxLoopRate, Default: "none", Doc: "Minimum number of items done in an hour: items done / hours."},
		Attr{Name: "success_rate", Kind: Value, Want: value.NumberType, Max: 1, Default: "none", Doc: "Minimum share of items that succeed, from 0 to 1: items done / items done or failed."},
		Attr{Name: "mean_time", Kind: Duration, Default: "none", Doc: "Maximum average time from the claim of an item to the end of the work on it."},
		Attr{Name: "idle", Kind: Value, Want: value.NumberType, Max: 1, Default: "none", Doc: "Maximum share of the time in which an agent has no item, from 0 to 1, over all agents of the loop."},
		Attr{Name: "retry_rate", Kind: Value, Want: value.NumberType, Max: 1, Default: "none", Doc: "Maximum share of runs for items whose work failed or was lost before, from 0 to 1."},
		Attr{Name: "escalation_rate", Kind: Value, Want: value.NumberType, Max: 1, Default: "none", Doc: "Maximum share of the finished items that went to a person, from 0 to 1: the run waited for a person for longer than a heartbeat, or the item became a dead letter."})},
}
