workflow "w" {
  step "a" {
    run = "true" /* what it does
  }
}
