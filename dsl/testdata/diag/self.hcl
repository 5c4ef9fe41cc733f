workflow "w" {
  step "a" {
    run = ["true"]
    when = "step.a.status == 'failed'"
  }
}
