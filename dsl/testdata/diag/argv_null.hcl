workflow "w" {
  step "b" {
    run  = ["true"]
    when = "1 == 1"
  }
  step "a" { run = ["echo", step.b.output] }
}
