workflow "w" {
  step "a" {
    value = 2 ** 3
  }
}
