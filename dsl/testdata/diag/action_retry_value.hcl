workflow "w" {
  step "a" {
    value = 3
    retry { max_attempts = 2 }
  }
}
