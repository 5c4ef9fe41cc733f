workflow "w" {
  step "a" {
    run      = ["true"]
    priority = 1.5
  }
}
