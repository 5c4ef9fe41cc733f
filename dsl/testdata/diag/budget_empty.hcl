workflow "w" {
  step "a" {
    run = ["true"]
    budget {
      warn = 50
    }
  }
}
