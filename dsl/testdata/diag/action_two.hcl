workflow "w" {
  step "a" {
    run = ["true"]
    value = 3
  }
}
