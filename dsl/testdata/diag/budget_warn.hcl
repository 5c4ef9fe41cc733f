workflow "w" {
  step "a" {
    run = ["true"]
    budget {
      attempts = 3
      warn     = 150
    }
  }
}
