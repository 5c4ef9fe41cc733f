workflow "w" {
  step "b" { run = ["true"] }
  step "a" {
    run  = ["true"]
    when = "step.b.status == 'success'"
  }
}
