workflow "w" {
  step "a" {
    value = [for : x]
  }
}
