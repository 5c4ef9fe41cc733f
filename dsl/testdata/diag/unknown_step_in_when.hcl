workflow "w" {
  step "build" { run = ["true"] }
  step "test" {
    run  = ["true"]
    when = "step.buidl.exit_code == 0"
  }
}
