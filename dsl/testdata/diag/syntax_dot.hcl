workflow "w" {
  step "a" {
    value = input.
  }
}
