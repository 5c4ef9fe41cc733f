workflow "w" {
  step "build" { run = ["true"] }
  step "test" {
    run  = ["true"]
    when = "step.biild.exit_code == 0"
  }
}
