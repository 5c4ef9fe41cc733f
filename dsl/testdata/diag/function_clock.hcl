workflow "w" {
  step "a" {
    value = timestamp()
  }
}
