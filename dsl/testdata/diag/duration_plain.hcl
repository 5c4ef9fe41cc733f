workflow "w" {
  step "a" {
    run = ["true"]
    timeout = "5 minutes"
  }
}
