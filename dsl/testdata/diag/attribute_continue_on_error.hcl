workflow "w" {
  step "a" {
    run = ["true"]
    continue-on-error = true
  }
}
