workflow "w" {
  step "a" {
    run = ["true"]
    retries = 3
  }
}
