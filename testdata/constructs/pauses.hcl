# Waits and approvals with gates and escalations. A gate judges the event that came and what a person said, and can have the step wait
# again. What does not come in time, and what a person refuses, climbs the levels.
gate "big" {
  check   = "result.output.size > 2"
  on_fail = "retry"
}

gate "monday" {
  check   = "result.output.input.day == 'monday'"
  message = "Only on a monday."
  on_fail = "retry"
}

escalation "people" {
  level "again" { workflow = workflow.mend }

  level "human" {
    await = "decision"
    after = "300ms"
  }
}

workflow "work" {
  default = true

  step "small" {
    emit {
      event = "job"
      data  = { size = 1 }
    }
  }

  step "large" {
    emit {
      event = "job"
      data  = { size = 3 }
    }
    depends_on = [step.small]
  }

  step "job" {
    wait {
      event   = "job"
      data    = object({ size = number })
      timeout = "5s"
    }
    gates = [gate.big]
  }

  step "never" {
    wait {
      event   = "never"
      timeout = "100ms"
    }
    escalate = escalation.people
    on_error = "continue"
  }

  step "day" {
    approve {
      prompt  = "On which day?"
      timeout = "200ms"
      default = "approve"
      input "day" {
        type    = string
        default = "friday"
      }
    }
    gates    = [gate.monday]
    on_error = "continue"
    retry { max_attempts = 2 }
  }

  step "ok" {
    approve {
      prompt  = "Ship?"
      timeout = "200ms"
    }
    escalate = escalation.people
    on_error = "continue"
  }

  output "job" { value = [step.job.output.size, step.job.attempts] }
  output "never" { value = [step.never.status, step.never.escalated, step.never.attempts] }
  output "day" { value = [step.day.status, step.day.attempts, step.day.error.gate] }
  output "ok" { value = [step.ok.status, step.ok.escalated, step.ok.attempts] }
}

workflow "mend" {
  step "look" { run = ["say", "looked"] }
}
