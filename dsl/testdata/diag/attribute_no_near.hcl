workflow "w" {
  step "a" {
    run = ["true"]
    frobnicate = 3
  }
}
