workflow "w" {
  step "a" {
    run = ["true"]
    max_concurrency = 2
  }
}
