workflow "w" {
  step "a" {
    run = ["true"]
    retry = 3
  }
}
