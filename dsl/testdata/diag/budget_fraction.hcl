workflow "w" {
  step "a" {
    run = ["true"]
    budget {
      attempts = 2.5
    }
  }
}
