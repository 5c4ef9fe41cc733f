workflow "w" {
  step "a" {
    kv {
      set   = "a"
      old   = 1
      value = 2
    }
  }
}
