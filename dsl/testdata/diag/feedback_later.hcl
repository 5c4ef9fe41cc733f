workflow "w" {
  step "a" {
    run = ["echo", feedback]
  }
}
