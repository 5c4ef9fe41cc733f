workflow "w" {
  step "a" {
    value = upper("a"
    when = "true"
  }
}
