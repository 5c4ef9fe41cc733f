workflow "w" {
  step "a" {
    run = ["true"]
    retry { max_attempts = 2 }
    retry { max_attempts = 3 }
  }
}
