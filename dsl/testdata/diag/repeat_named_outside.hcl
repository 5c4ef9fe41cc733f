workflow "w" {
  sequence "polish" {
    step "draft" { run = ["cat", "draft"] }
    step "judge" { run = ["cat", "verdict"] }
    repeat {
      until = "step.judge.output == 'good'"
      max   = 3
    }
  }
  step "print" { run = ["echo", step.draft.output] }
}
