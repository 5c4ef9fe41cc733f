workflow "w" {
  step "a" {
    wait {
    }
  }
}
