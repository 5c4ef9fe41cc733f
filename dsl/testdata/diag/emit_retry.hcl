workflow "w" {
  step "a" {
    emit { event = "done" }
    retry { max_attempts = 2 }
  }
}
