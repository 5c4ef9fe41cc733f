workflow "w" {
  step "a" {
    value = true ? 1
  }
}
