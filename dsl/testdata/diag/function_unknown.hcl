workflow "w" {
  step "a" {
    value = uper("x")
  }
}
