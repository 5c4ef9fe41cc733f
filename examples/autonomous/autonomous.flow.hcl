# Two agents that are never idle while there is something to do: what people hand in with flowrun dispatch comes first, then the items of
# ROADMAP.md, and when there is neither, a little tidying at most once a day. Try it:
#
#   flowrun dispatch add "Fix the login page" --label bug --priority 5
#   flowrun loop next engineering --dry-run
#   flowrun loop run engineering --until-idle

agent "sam" {
  type    = "exec"
  command = ["./agent.sh", "sam"]
}

agent "leo" {
  type    = "exec"
  command = ["./agent.sh", "leo"]
}

pool "team" { members = [agent.sam, agent.leo] }

loop "engineering" {
  agents    = [pool.team]
  lease     = "5m"
  heartbeat = "30s"

  source "dispatch" {}
  source "roadmap" { path = "ROADMAP.md" }

  source "improvement" {
    rotate = [workflow.tidy, workflow.document]
    every  = "24h"
    with   = { worker = worker }
  }

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
    tasks_per_hour       = 60
    consecutive_failures = 3
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
