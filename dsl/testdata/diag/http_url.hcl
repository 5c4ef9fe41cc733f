workflow "w" {
  step "a" {
    http { url = "example.com/status" }
  }
}
