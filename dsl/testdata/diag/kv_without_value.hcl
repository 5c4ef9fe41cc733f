workflow "w" {
  step "a" {
    kv {
      set = "a"
    }
  }
}
