workflow "w" {
  step "a" {
    run = ["true"]
    budget {
      attempts = "many"
    }
  }
}
