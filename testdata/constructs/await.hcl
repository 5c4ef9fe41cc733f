# A person decides about what retries do not settle: another try, an output of the person's own, nothing at all, or the end of it. Where
# nobody decides in time, the next level follows.
escalation "people" {
  rule {
    when  = "error.reason == 'gate'"
    level = "reviewer"
  }

  rule { level = "operator" }

  level "operator" {
    await     = "decision"
    after     = "100ms"
    after_ack = "200ms"
  }

  level "mended" { workflow = workflow.mend }

  level "reviewer" {
    await = "decision"
    after = "100ms"
  }
}

workflow "work" {
  default = true

  step "build" {
    run      = ["exit", tostring(try(healed.code, 4))]
    escalate = escalation.people
    degrade { output = "as before" }
  }

  step "draft" {
    value = { text = "short" }
  }

  step "text" {
    run      = ["say", jsonencode(step.draft.output)]
    parse    = "json"
    output   = object({ text = string })
    escalate = escalation.people
    on_error = "continue"
    gate "long" { check = "len(result.output.text) > 10" }
  }

  sequence "release" {
    escalate = escalation.people
    on_error = "continue"
    value    = step.ship.stdout
    step "ship" { run = ["exit", "7"] }
  }

  output "build" { value = [step.build.status, step.build.attempts, step.build.escalated, step.build.by] }
  output "text" { value = [step.text.status, step.text.escalated, step.text.by, try(step.text.output.text, null)] }
  output "release" { value = [step.release.status, step.release.iterations, step.release.by, step.release.output] }
}

workflow "mend" {
  step "look" { run = ["say", "mended"] }
  output "code" { value = 0 }
}
