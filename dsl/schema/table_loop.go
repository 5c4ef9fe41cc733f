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
		Doc:    "Finds the next piece of work for each agent that has a free place, and has a workflow do it. It goes on until somebody stops it: flowrun loop run NAME. The sources are asked in the order in which they are written. Of a source's open items, of which the needs are closed, which ask for no capability that the agent lacks, and which nobody has claimed or is to do, the agent takes the one with the highest priority, then the one that the most others need, then the oldest, then that of the smallest id.",
		Blocks: []string{"source", "handle", "limits"},
		Attrs: attrs(
			Attr{Name: "agents", Kind: Refs, RefKind: "agent", Pools: true, Required: true, Doc: "The agents, in the order in which they choose. A pool stands for all its members. An agent has as many items at once as its concurrency says, 1 by default."},
			Attr{Name: "lease", Kind: Duration, Default: `"5m"`, Doc: "How long the claim of an item holds that nobody renews. Then others can take the item."},
			Attr{Name: "heartbeat", Kind: Duration, Default: `"30s"`, Doc: "How often a claim is renewed while its run goes on; at most a third of the lease."},
			Attr{Name: "idle", Kind: Duration, Default: `"10s"`, Doc: "When sources that have nothing to do are asked again for the first time. Each further time takes twice as long. What is handed in with flowrun dispatch wakes the loop at once."},
			Attr{Name: "idle_max", Kind: Duration, Default: `"5m"`, Doc: "The longest such time."},
			Attr{Name: "notify", Kind: Refs, RefKind: "channel", Default: "nobody", Doc: "Channels that are told when a limit stops the loop, when a fatal failure stops an agent, and when an item is given up."})},
	"source": {Label: "kind", Doc: "Where a loop finds items: \"dispatch\" is what was handed in with flowrun dispatch and by hand-overs, \"improvement\" has workflows run in turn when all other sources are empty.",
		Attrs: attrs(
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
}
