# From a task to a release: one agent plans, one implements, one reviews, a person approves or asks for a revision, and the change ships.
# The implementer gets the findings of the reviewer, and the comment of a person who asks for a revision, at most five times.
# The run waits for the person without a process; `flowrun inbox` lists what waits, with the command that answers.

agent "planner" {
  type    = "exec"
  command = ["./agents/planner"]
  output  = object({ steps = list(string) })
}

agent "implementer" {
  type    = "exec"
  command = ["./agents/implementer"]
  output  = object({ change = string })
}

agent "reviewer" {
  type    = "exec"
  command = ["./agents/reviewer"]
}

agent "shipper" {
  type    = "exec"
  command = ["./agents/shipper"]
  output  = object({ version = string })
}

# A finding of at least medium severity sends the work back.
gate "review" {
  review {
    agent = agent.reviewer
    block = "medium"
  }
  on_fail = "retry"
}

workflow "change" {
  input "task" {
    type    = string
    default = "Greet the user by name."
  }

  sequence "work" {
    step "plan" {
      agent = agent.planner
      task  = input.task
    }

    step "implement" {
      agent = agent.implementer
      task  = "Implement this plan. The task was: ${input.task}"
      with  = { steps = step.plan.output.steps }
      gates = [gate.review]
      retry { max_attempts = 3 }
    }

    step "ok" {
      approve {
        prompt  = "Ship this change?"
        show    = { task = input.task, change = step.implement.output.change }
        revise  = step.implement
        timeout = "7d"
      }
    }

    step "ship" {
      agent = agent.shipper
      with  = { change = step.implement.output.change, approved_by = step.ok.output.by }
    }
  }

  output "change" { value = step.implement.output.change }
  output "rounds" { value = step.ok.iterations }
  output "shipped" { value = step.ship.output.version }
}
