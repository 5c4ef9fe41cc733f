# Agents are never idle while there is work, and cost nothing while there is none. Dispatched work comes first, then the
# list in TODO.md, then the items of ROADMAP.md (each item becomes a ticket), and then a little tidying, at most once a day. An
# agent that can do no more work is stopped; the others continue, and people get a message.
#
#   flowrun dispatch add "Fix the login page" --label bug --priority 5
#   flowrun loop next team --dry-run        # which agent would take which item, and why not the others
#   flowrun loop run team --until-idle
#   flowrun serve                           # continues until it is stopped

agent "sam" {
  type         = "exec"
  command      = ["./agents/coder", "sam"]
  capabilities = ["go"]
}

agent "leo" {
  type    = "exec"
  command = ["./agents/coder", "leo"]
}

pool "team" { members = [agent.sam, agent.leo] }

channel "people" {
  type = "file"
  path = "messages.jsonl"
}

loop "team" {
  agents = [pool.team]
  notify = [channel.people]

  source "dispatch" {}

  source "backlog" {
    from = "file"
    path = "TODO.md"
  }

  source "roadmap" { path = "ROADMAP.md" }

  source "improvement" {
    rotate = [workflow.tidy]
    every  = "24h"
    with   = { worker = worker }
  }

  # What goes into production waits for a person, and the agent does other work meanwhile.
  handle {
    when     = "'release' in item.labels"
    workflow = workflow.release
    with     = { title = item.title, worker = worker }
  }

  handle {
    workflow = workflow.work
    with     = { title = item.title, worker = worker }
  }

  limits {
    tasks_per_hour       = 60
    consecutive_failures = 5
  }
}

workflow "work" {
  default = true

  input "title" {
    type    = string
    default = "Fix the login page."
  }

  input "worker" {
    type    = string
    default = "sam"
  }

  step "do" {
    agent = pool.team[input.worker]
    task  = input.title
  }

  step "test" {
    run        = ["./agents/tests"]
    depends_on = [step.do]
  }
}

workflow "release" {
  input "title" { type = string }
  input "worker" { type = string }

  step "prepare" {
    agent = pool.team[input.worker]
    task  = input.title
  }

  step "ok" {
    approve { prompt = "${input.title} goes into production. May it?" }
    depends_on = [step.prepare]
  }
}

workflow "tidy" {
  input "worker" { type = string }

  step "simplify" {
    agent = pool.team[input.worker]
    task  = "Make one thing simpler, and leave all else as it is."
  }

  step "check" {
    run        = ["./agents/tests"]
    depends_on = [step.simplify]
  }
}
