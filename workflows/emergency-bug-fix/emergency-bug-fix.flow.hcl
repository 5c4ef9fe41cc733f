# An emergency, from the alarm to the repaired system: the event of a monitor starts the run, three agents vote on the cause, the
# self-healing agent repairs each affected service, and a specialist takes over if the repair fails. The tests and then the deployment
# follow. A busy machine and many failures change how the services are repaired.
#
#   flowrun emit error.reported --data '{"id": "e-7", "message": "500 from the API", "services": ["api"]}'

agent "architect" {
  type    = "exec"
  command = ["./agents/analyst", "architect"]
  output  = object({ cause = string })
}

agent "backend" {
  type    = "exec"
  command = ["./agents/analyst", "backend"]
  output  = object({ cause = string })
}

agent "frontend" {
  type    = "exec"
  command = ["./agents/analyst", "frontend"]
  output  = object({ cause = string })
}

agent "self_healing" {
  type    = "exec"
  command = ["./agents/self_healing"]
}

agent "specialist" {
  type    = "exec"
  command = ["./agents/specialist"]
}

agent "operations" {
  type    = "exec"
  command = ["./agents/operations"]
}

pool "analysts" { members = [agent.architect, agent.backend, agent.frontend] }

# In place of the monitor, so that there is something to repair at once.
workflow "alarm" {
  default = true

  input "services" {
    type    = list(string)
    default = ["api", "orders"]
  }

  step "report" {
    emit {
      event = "error.reported"
      data  = { id = "e-1", message = "The list of orders answers with 500.", services = input.services }
    }
  }
}

on "error.reported" {
  workflow = workflow.fix_bug
  data     = object({ id = string, message = string, services = list(string) })
  with     = { id = event.id, message = event.message, services = event.services }
}

workflow "fix_bug" {
  # The same error, reported again while it is being repaired, starts nothing more.
  concurrency {
    group     = "error-${input.id}"
    when_busy = "skip"
  }

  input "id" { type = string }
  input "message" { type = string }
  input "services" { type = list(string) }

  consensus "analysis" {
    participants = [pool.analysts]
    task         = "What is the cause? ${input.message}"
    vote         = result.output.cause
    timeout      = "10m"
    degrade { output = { decision = "unknown" } }
  }

  parallel "fix" {
    max_concurrency = 4

    # The services run on this machine, too: while it is busy, one is repaired at a time.
    adapt {
      when            = "metrics.cpu > 80"
      max_concurrency = 1
    }

    step "mend" {
      for_each = input.services
      agent    = agent.self_healing
      fallback = [agent.specialist]
      task     = "Mend ${each.value}. The cause: ${step.analysis.output.decision}. ${input.message}"
      output   = object({ commit = string })
      timeout  = "20m"
    }
  }

  sequence "validation" {
    depends_on = [step.fix]

    step "test" {
      run = ["./agents/tests", join(",", [for change in step.mend.output : change.commit])]
    }

    step "deploy" {
      agent = agent.operations
      task  = "Deploy ${join(", ", [for change in step.mend.output : change.commit])}."
      with  = { tested = step.test.output }
    }
  }

  output "cause" { value = step.analysis.output.decision }
  output "mended_by" { value = [for i in step.mend.instances : i.agent] }
}
