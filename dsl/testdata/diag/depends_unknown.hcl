workflow "w" {
  step "build" { run = ["true"] }
  step "test" {
    run        = ["true"]
    depends_on = [step.biuld]
  }
}
