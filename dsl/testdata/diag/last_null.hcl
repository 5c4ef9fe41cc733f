workflow "w" {
  sequence "polish" {
    step "draft" { run = ["draft", last.step.judge.output] }
    step "judge" { run = ["judge", "--", step.draft.output] }
    repeat { max = 3 }
  }
}
