# What people can change from the dashboard: for each action, a workflow whose run offers it.
memory { embedder = "none" }

variable "secret" {
  type      = string
  default   = ""
  sensitive = true
}

agent "ann" { type = "human" }

agent "frail" {
  type    = "exec"
  command = ["false"]
  timeout = "1m"
  circuit_breaker {
    failures = 1
    reset    = "1h"
  }
}

agent "helper" {
  type    = "exec"
  command = ["sh", "-c", "cat > /dev/null; echo '{\"type\":\"result\",\"output\":{\"ok\":1},\"learnings\":[\"Look twice at a table.\"]}'"]
  timeout = "1m"
}

escalation "people" {
  level "human" { await = "decision" }
}

channel "log" {
  type   = "file"
  path   = "late/messages.jsonl"
  dedupe = "0s"
}

# Fails at its second part, until the file "mended" exists.
workflow "parts" {
  step "build" { run = "echo once >> built" }

  step "test" {
    for_each   = ["unit", "whole"]
    depends_on = [step.build]
    run        = "test ${each.key} = 0 || test -e mended"
  }

  step "after" {
    depends_on = [step.test]
    value      = step.test.status
  }
}

workflow "long" {
  step "first" { value = 1 }

  step "pause" {
    depends_on = [step.first]
    wait { duration = "1h" }
  }
}

workflow "approval" {
  step "ok" {
    approve {
      prompt = "Release the build?"
      show   = { version = "1.2" }
      input "day" {
        type = string
        enum = ["monday", "friday"]
      }

      input "count" { type = number }
    }
  }

  output "count" { value = step.ok.output.input.count }
}

workflow "simple" {
  step "first" {
    approve { prompt = "First?" }
  }
}

workflow "letter" {
  sequence "both" {
    step "write" { run = "echo draft" }

    step "read" {
      approve {
        prompt = "Send this letter?"
        show   = step.write.stdout
        revise = step.write
      }
    }
  }
}

workflow "task" {
  step "label" {
    agent  = agent.ann
    task   = "What is on the picture?"
    output = object({ label = string })
  }

  output "label" { value = step.label.output.label }
}

workflow "escalated" {
  step "deploy" {
    run      = "test -e mended"
    escalate = escalation.people
  }
}

workflow "budget" {
  budget {
    attempts  = 1
    on_exceed = "ask"
  }

  step "a" { run = "true" }
  step "b" {
    depends_on = [step.a]
    run        = "true"
  }
}

workflow "secretive" {
  step "ok" {
    approve { prompt = "With the secret?" }
  }

  step "use" {
    depends_on = [step.ok]
    run        = "true"
    env        = { WORD = var.secret }
  }
}

workflow "frail" {
  step "ask" {
    agent = agent.frail
    task  = "Fail."
  }
}

workflow "learner" {
  step "work" {
    agent = agent.helper
    task  = "Mend the table."
  }
}

workflow "tell" {
  step "tell" {
    notify {
      to   = [channel.log]
      text = "The build is done."
    }
    on_error = "continue"
  }
}

workflow "work" {
  default = true
  input "id" { type = string }
  step "a" { value = input.id }
}

loop "engineering" {
  agents = [agent.helper]
  source "dispatch" {}

  handle {
    workflow = workflow.work
    with     = { id = item.id }
  }
}

routine "nightly" {
  workflow = workflow.work
  with     = { id = "night" }
  cron     = "0 2 * * *"
}

on "order.*" {
  workflow = workflow.work
  with     = { id = event.id }
}
