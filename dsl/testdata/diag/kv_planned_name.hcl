workflow "w" {
  step "a" {
    kv { gett = "n" }
  }
}
