workflow "w" {
  step "a" {
    run = []
  }
}
