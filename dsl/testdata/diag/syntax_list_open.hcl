workflow "w" {
  step "a" {
    run = ["a"
  }
}
