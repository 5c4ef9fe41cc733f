workflow "w" {
  step "a" {
    value = 6 & 3
  }
}
