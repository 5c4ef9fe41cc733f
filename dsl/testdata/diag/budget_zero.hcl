workflow "w" {
  step "a" {
    run = ["true"]
    budget {
      attempts = 0
    }
  }
}
