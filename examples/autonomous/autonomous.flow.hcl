# Two agents that are never idle while there is something to do: what people hand in with flowrun dispatch comes first, then the items of
# ROADMAP.md, and when there is neither, a little tidying at most once a day. Try it:
#
#   flowrun dispatch add "Fix the login page" --label bug --priority 5
#   flowrun loop next engineering --dry-run
#   flowrun loop run engineering --until-idle

variable "tidy_every" {
  type        = string
  default     = "24h"
  description = "How long the agents leave things as they are when there is nothing to do."
}

agent "sam" {
  type    = "exec"
  command = ["./agent.sh", "sam"]

  heartbeat = "5m" # an agent that says nothing for so long is stopped and started again
}

agent "leo" {
  type    = "exec"
  command = ["./agent.sh", "leo"]

  heartbeat = "5m"
}

pool "team" { members = [agent.sam, agent.leo] }

loop "engineering" {
  agents    = [pool.team]
  lease     = "1h"
  heartbeat = "15m"
  idle_max  = "30m"

  source "dispatch" {}
  source "roadmap" { path = "ROADMAP.md" }

  source "improvement" {
    rotate = [workflow.tidy, workflow.document]
    every  = var.tidy_every
    with   = { worker = worker }
  }

  handle {
    when     = "'bug' in item.labels"
    workflow = workflow.fix
    with     = { title = item.title, worker = worker }
  }

  # What goes out waits for a person, and the agent does other work meanwhile.
  handle {
    when     = "'release' in item.labels"
    workflow = workflow.release
    with     = { title = item.title, worker = worker }
  }

  handle {
    workflow = workflow.feature
    with     = { title = item.title, worker = worker }
  }

  limits {
    tasks_per_hour       = 60
    consecutive_failures = 3
  }

  # flowrun loop status shows the figures of the last 24 hours, and says which target is missed.
  target {
    idle         = 0.5 # of their time, the agents may have no item
    success_rate = 0.8
  }
}

workflow "fix" {
  input "title" { type = string }
  input "worker" { type = string }

  sequence "mend" {
    step "find" {
      agent  = pool.team[input.worker]
      task   = "Find the cause: ${input.title}"
      output = string
    }

    step "repair" {
      agent = pool.team[input.worker]
      task  = "Repair it: ${step.find.output}"
    }
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

workflow "release" {
  input "title" { type = string }
  input "worker" { type = string }

  step "prepare" {
    agent = pool.team[input.worker]
    task  = input.title
  }

  step "allow" {
    approve { prompt = "${input.title} is ready. May it go out?" }
    depends_on = [step.prepare]
  }
}

workflow "tidy" {
  input "worker" { type = string }

  step "refactor" {
    agent = pool.team[input.worker]
    task  = "Make one thing simpler"
  }
}

workflow "document" {
  input "worker" { type = string }

  step "write" {
    agent = pool.team[input.worker]
    task  = "Bring the documentation up to date"
  }
}
