# A failure that stops cancels what runs around it; what was cancelled decides nothing, the failure does.
workflow "strict" {
  parallel "checks" {
    step "slow" { run = ["sleep", "60"] }

    step "fatal" {
      run      = ["exit", "1"]
      on_error = "stop"
    }
  }

  step "elsewhere" { run = ["sleep", "1"] }

  step "after" {
    run        = ["say", "done"]
    depends_on = [step.checks]
  }
}
