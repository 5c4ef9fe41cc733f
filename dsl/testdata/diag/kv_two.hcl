workflow "w" {
  step "a" {
    kv {
      get = "a"
      set = "b"
      value = 1
    }
  }
}
