# Approvals: nobody answers in time. One is rejected then, which is tolerated, and one is approved with the default of its input. An
# approval that is not needed any more is cancelled.

workflow "release" {
  step "plan" { value = { version = "1.2.0" } }

  step "strict" {
    approve {
      prompt    = "Release ${step.plan.output.version}?"
      show      = step.plan.output
      approvers = ["ann", "bob"]
      quorum    = 2
      timeout   = "200ms"
    }
    on_error = "continue"
  }

  step "kind" {
    approve {
      prompt  = "Tell everybody?"
      timeout = "100ms"
      default = "approve"
      input "day" {
        type    = string
        default = "monday"
      }
    }
    when = "step.plan.status == 'succeeded'"
  }

  parallel "race" {
    join = "first_success"
    step "person" {
      approve { prompt = "Enough?" }
    }
    step "clock" {
      wait { duration = "50ms" }
    }
  }

  output "strict" { value = [step.strict.error.kind, step.strict.error.reason, step.strict.error.message] }
  output "day" { value = step.kind.output.input.day }
  output "by" { value = step.kind.output.by }
  output "winner" { value = step.race.winner }
}
