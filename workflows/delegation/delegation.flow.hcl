# A conductor gives each problem to the right team. The first rule that is true decides; if no rule is true, the default team gets the problem.
# Each team is a separate workflow: its run has its own history, and other workflows can call it, too.

agent "backend" {
  type    = "exec"
  command = ["./agents/backend"]
}

agent "typescript" {
  type    = "exec"
  command = ["./agents/typescript"]
}

agent "generalist" {
  type    = "exec"
  command = ["./agents/generalist"]
}

workflow "conduct" {
  default = true
  input "problem" {
    type    = object({ component = string, type = string, text = string })
    default = { component = "api", type = "timeout", text = "The list of orders takes a minute." }
  }

  switch "delegate" {
    case {
      when = "input.problem.component == 'api'"
      step "api" {
        call = workflow.backend
        with = { problem = input.problem.text }
      }
    }

    case {
      when = "input.problem.type startsWith 'TS'"
      step "types" {
        agent = agent.typescript
        task  = input.problem.text
      }
    }

    default {
      step "other" {
        agent = agent.generalist
        task  = input.problem.text
      }
    }
  }
}

# The backend team finds the cause, and then removes it.
workflow "backend" {
  input "problem" { type = string }

  step "find" {
    agent  = agent.backend
    task   = "Find the cause: ${input.problem}"
    output = object({ cause = string })
  }

  step "mend" {
    agent = agent.backend
    task  = "Remove the cause: ${step.find.output.cause}"
  }

  output "change" { value = step.mend.output }
}
