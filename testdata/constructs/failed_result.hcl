# Rules about failures read what the program wrote: which failures are worth another attempt, what an error means, which errors open a
# breaker, who takes care of a failure, and what the workflow that heals gets to read.
quota "mirror" {
  circuit_breaker {
    failures = 1
    reset    = "1h"
    when     = "result.stderr contains 'connection reset'"
  }
}

escalation "standard" {
  rule {
    when  = "result.exit_code == 3 && result.stderr contains 'is down'"
    level = "mended"
  }

  level "mended" {
    workflow = workflow.mend
    with     = { said = trimspace(result.stderr) }
  }
}

workflow "work" {
  default = true
  classify {
    when = "result.stderr contains 'No space left'"
    kind = "fatal"
  }

  step "passes" {
    run      = ["fail", "1", "connection reset by peer"]
    on_error = "continue"
    retry {
      max_attempts = 3
      base_delay   = "100ms"
      jitter       = "none"
      when         = "result.stderr contains 'connection reset'"
    }
  }

  step "stays" {
    run      = ["fail", "1", "404 not found"]
    on_error = "continue"
    retry {
      max_attempts = 3
      when         = "result.stderr contains 'connection reset'"
    }
  }

  step "full" {
    run      = ["fail", "1", "No space left on device"]
    on_error = "continue"
    retry { max_attempts = 3 }
  }

  step "release" {
    run      = ["fail", tostring(try(healed.code, 3)), "production is down"]
    escalate = escalation.standard
  }

  step "missing" {
    run      = ["fail", "1", "404 not found"]
    quota    = quota.mirror
    on_error = "continue"
  }

  step "away" {
    run        = ["fail", "1", "connection reset by peer"]
    quota      = quota.mirror
    depends_on = [step.missing]
    on_error   = "continue"
  }

  output "attempts" { value = [step.passes.attempts, step.stays.attempts, step.full.attempts, step.release.attempts] }
  output "full" { value = step.full.error.kind }
}

workflow "mend" {
  input "said" { type = string }
  step "look" { value = input.said }
  output "code" { value = step.look.output == "production is down" ? 0 : 4 }
}
