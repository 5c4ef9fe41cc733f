workflow "w" {
  step "a" {
    run = ["echo", previous.output]
  }
}
