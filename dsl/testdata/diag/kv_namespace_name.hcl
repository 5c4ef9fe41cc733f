workflow "w" {
  step "a" {
    kv {
      get       = "a"
      namespace = "a/b"
    }
  }
}
