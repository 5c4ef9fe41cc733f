workflow "w" {
  step "a" {
    kv { incr = "n" }
    retry { max_attempts = 3 }
  }
}
