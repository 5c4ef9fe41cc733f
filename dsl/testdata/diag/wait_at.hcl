workflow "w" {
  step "a" {
    wait { at = "tomorrow" }
  }
}
