workflow "w" {
  step "stop" {
    fail { message = "not yet" }
  }
  step "a" {
    run        = ["true"]
    depends_on = [step.stop]
  }
}
