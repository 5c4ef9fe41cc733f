workflow "w" {
  step "a" {
    kv {
      namespace = "x"
    }
  }
}
