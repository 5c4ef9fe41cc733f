workflow "w" {
  step "a" {
    kv {
      get   = "a"
      limit = 3
    }
  }
}
