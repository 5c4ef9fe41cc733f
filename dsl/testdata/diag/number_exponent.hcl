workflow "w" {
  step "a" {
    value = "${1e8000000}"
  }
}
