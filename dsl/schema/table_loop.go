package schema

import "github.com/flowrun/flowrun/dsl/value"

// MaxLoopRate bounds how many items of a loop may begin in an hour.
const MaxLoopRate = 100_000

// loopExample has two agents do what is handed in; bugs go to a workflow of their own.
const loopExample = `agent "sam" {
  type         = "exec"
  command      = ["coder"]
  capabilities = ["go"]
}

agent "leo" {
  type    = "exec"
  command = ["coder"]
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
		Doc:    "Finds the next piece of work for each agent that has a free place, and has a workflow do it. It goes on until somebody stops it: flowrun loop run NAME runs it in the foreground, and flowrun serve keeps the loops of each program running that was applied. The sources are asked in the order in which they are written. Of a source's open items, of which the needs are closed, which ask for no capability that the agent lacks, and which nobody has claimed or is to do, the agent takes the one with the highest priority, then the one that the most others need, then the oldest, then that of the smallest id; of items of unknown age the one that is listed first. While the run of an item waits for a person, for an event, or for a moment that is at least a lease away, its agent takes other items, and the run goes on by itself.",
		Blocks: []string{"source", "handle", "limits", "target"},
		Attrs: attrs(
			Attr{Name: "agents", Kind: Refs, RefKind: "agent", Pools: true, Required: true, Doc: "The agents, in the order in which they choose. A pool stands for all its members. An agent has as many items at once as its concurrency says, 1 by default."},
			Attr{Name: "quota", Kind: Quotas, Default: "none", Doc: "Quotas on which the whole loop depends: quota.NAME or [quota.A, quota.B]. While the breaker of one is open, or what it may spend is spent, the loop takes no item. The loop itself takes nothing of them."},
			Attr{Name: "lease", Kind: Duration, Default: `"5m"`, Doc: "How long the claim of an item holds that nobody renews. Then others can take the item."},
			Attr{Name: "heartbeat", Kind: Duration, Default: `"30s"`, Doc: "How often a claim is renewed while its run goes on; at most a third of the lease."},
			Attr{Name: "idle", Kind: Duration, Default: `"10s"`, Doc: "When sources that have nothing to do are asked again for the first time. Each further time takes twice as long. What is handed in with flowrun dispatch wakes the loop at once."},
			Attr{Name: "idle_max", Kind: Duration, Default: `"5m"`, Doc: "The longest such time."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that are told when a limit stops the loop, when a target is missed and when it is met again, when a fatal failure stops an agent, and when an item is given up."})},
	"source": {Label: "kind", Doc: "Where a loop finds items: \"dispatch\" is what was handed in with flowrun dispatch and by hand-overs, \"backlog\" is a list of work that is kept elsewhere, \"roadmap\" is a file of plans, \"improvement\" has workflows run in turn when all other sources are empty. A backlog marks an item that an agent takes, and is told how the work on it ended; before that it is asked whether the item is still open. Each item of a roadmap that nobody has begun becomes a ticket of the store, once, known by path, headings and title; it is ticked off in the file when it is done. flowrun backlog list shows what is read of a file, and flowrun explain sources how programs and services are asked.",
		Attrs: attrs(
			Attr{Name: "from", Kind: Word, Words: []string{"file", "github", "exec", "http"}, Doc: "Of backlog, where the list is: in a Markdown or JSONL file, in the issues of a repository on GitHub or on a server with the same API, behind a program, or behind a service."},
			Attr{Name: "path", Kind: Value, Want: value.StringType, Doc: "Of roadmap and of backlog from file, the file, relative to the program's folder. Items that are todo are taken, and those that an agent of this store has left; items within an item come before it. Tags such as #role/backend, #skill/go and #capability/gpu are the capabilities that an item asks for."},
			Attr{Name: "command", Kind: Value, Want: value.AnyType, Doc: "Of backlog from exec, the program and its arguments, as a list. It reads a question as a line of JSON on its standard input."},
			Attr{Name: "url", Kind: Value, Want: value.StringType, Doc: "Of backlog from http, the address that gets the questions as POST requests."},
			Attr{Name: "headers", Kind: Value, Want: value.AnyType, Default: "none", Doc: "Of backlog from http, an object of header fields. They can be sensitive."},
			Attr{Name: "repo", Kind: Value, Want: value.StringType, Doc: "Of backlog from github, the repository: OWNER/NAME. Open issues are items, pull requests are not. An issue needs those that its text says it depends on or is blocked by, its open sub-issues, and those that block it. Labels such as P1 or \"priority: high\" are its priority, labels such as \"role: backend\", \"skill: go\" and \"capability: gpu\" the capabilities that it asks for."},
			Attr{Name: "base_url", Kind: Value, Want: value.StringType, Default: `"https://api.github.com"`, Doc: "Of backlog from github, the address of the API, for GitHub Enterprise and for servers such as Gitea (https://HOST/api/v1)."},
			Attr{Name: "token", Kind: Value, Want: value.StringType, Default: "none", Doc: "Of backlog from github, the access token. Take it from a sensitive variable."},
			Attr{Name: "labels", Kind: Value, Want: value.AnyType, Default: "all issues", Doc: "Of backlog from github, a list of labels that an issue must have."},
			Attr{Name: "assignee", Kind: Value, Want: value.StringType, Default: "all issues", Doc: "Of backlog from github, only issues that are assigned to this account; \"none\": to nobody."},
			Attr{Name: "login", Kind: Value, Want: value.StringType, Default: "none", Doc: "Of backlog from github, the account that taken issues are assigned to. Issues of other accounts are left alone."},
			Attr{Name: "claim_label", Kind: Value, Want: value.StringType, Default: "\"in progress\" without login, none with it", Doc: "Of backlog from github, the label that taken issues get; \"\": none."},
			Attr{Name: "rotate", Kind: Refs, RefKind: "workflow", Doc: "Of improvement, the workflows; each time the next one runs."},
			Attr{Name: "every", Kind: Duration, Default: "no pause", Doc: "Of improvement, how long after the beginning of one the next may begin."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Of improvement, the inputs of the workflows. They can read item and worker."})},
	"handle": {Doc: "Which workflow does an item. The first handle whose condition holds has the item; an item for which none holds stays where it is.",
		Attrs: attrs(
			Attr{Name: "when", Kind: Condition, Default: "every item", Doc: "Which items: a condition over item and worker. item has id, source, title, body, labels, priority, needs, capabilities, assignee, url, created_at, handoff and data; worker is the name of the agent. A condition that cannot be computed does not hold."},
			Attr{Name: "workflow", Kind: Ref, RefKind: "workflow", Required: true, Doc: "The workflow. Each claim of an item has one run."},
			Attr{Name: "with", Kind: Value, Want: value.AnyType, Doc: "Its inputs. They can read item and worker: a step of the workflow has the agent that took the item with  agent = pool.NAME[input.worker]."})},
	"limits": {Doc: "Bounds of a loop. One that is reached stops the loop.", Once: true, Attrs: attrs(
		Attr{Name: "tasks_per_hour", Kind: Value, Want: value.IntType, Min: 1, Max: MaxLoopRate, Default: "no bound", Doc: "How many items may begin in any hour. The loop waits until the next one may."},
		Attr{Name: "consecutive_failures", Kind: Value, Want: value.IntType, Min: 1, Max: MaxFailures, Default: "no bound", Doc: "After so many failed items in a row the loop stops."},
		Attr{Name: "cost_usd_per_day", Kind: Value, Want: value.NumberType, Min: MinCost, Max: MaxBudget, Default: "no bound", Doc: "When the items of any 24 hours have cost so many dollars, the loop takes none until enough of it lies back. What runs can exceed the bound."})},
	"target": {Doc: "What a loop is to reach. The figures are those of the last 24 hours, counted by the hour. A target that is missed, and one that is met again, is a message to the channels of notify and the event flowrun.target, whose data has loop, target, state (missed or met), wanted and is; at most once an hour for each target. flowrun loop status shows the figures. throughput and idle count from the first full hour on, the other figures from 10 items on.", Once: true, Attrs: attrs(
		Attr{Name: "throughput", Kind: Value, Want: value.NumberType, Min: 0.001, Max: MaxLoopRate, Default: "none", Doc: "How many items are done in an hour, at least: items that were done / hours."},
		Attr{Name: "success_rate", Kind: Value, Want: value.NumberType, Max: 1, Default: "none", Doc: "Which part of the work on items succeeds, at least, from 0 to 1: items that were done / items that were done or have failed."},
		Attr{Name: "mean_time", Kind: Duration, Default: "none", Doc: "How long the work on an item takes, at most: the average of the time from the claim of an item to the end of the work on it."},
		Attr{Name: "idle", Kind: Value, Want: value.NumberType, Max: 1, Default: "none", Doc: "In which part of the time an agent has no item, at most, from 0 to 1, over all agents of the loop."},
		Attr{Name: "retry_rate", Kind: Value, Want: value.NumberType, Max: 1, Default: "none", Doc: "Which part of the runs does an item on which the work has failed or was lost before, at most, from 0 to 1."},
		Attr{Name: "escalation_rate", Kind: Value, Want: value.NumberType, Max: 1, Default: "none", Doc: "Which part of the items that were done or have failed went to a person, at most, from 0 to 1: the run waited for a person for longer than a heartbeat, or the item was given up."})},
}
