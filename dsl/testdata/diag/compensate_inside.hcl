workflow "w" {
  parallel "p" {
    for_each = ["x"]
    step "a" { run = ["echo", each.value] }
  }
  step "b" {
    run = ["true"]
    compensate { run = ["undo", "--", try(step.a.output, "")] }
  }
}
