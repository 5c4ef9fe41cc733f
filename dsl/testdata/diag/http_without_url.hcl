workflow "w" {
  step "a" {
    http { method = "GET" }
  }
}
