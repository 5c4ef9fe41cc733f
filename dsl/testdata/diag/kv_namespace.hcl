workflow "w" {
  step "a" {
    kv {
      get       = "a"
      namespace = run.id
    }
  }
}
