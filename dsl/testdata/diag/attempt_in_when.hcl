workflow "w" {
  step "a" {
    run = ["true"]
    when = "attempt == 1"
  }
}
