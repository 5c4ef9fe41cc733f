workflow "w" {
  step "a" {
    run = ["café"]
  }
}
