workflow "w" {
  step "a" {
    value = 1e300 * 2
  }
}
