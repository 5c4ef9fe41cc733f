workflow "w" {
  step "a" {
    run = ["true"]
    repeat = 3
  }
}
