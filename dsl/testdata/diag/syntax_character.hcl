workflow "w" {
  step "a" {
    value = 1 @ 2
  }
}
