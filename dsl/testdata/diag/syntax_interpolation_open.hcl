workflow "w" {
  step "a" {
    run = ["${input.x"]
  }
}
