workflow "w" {
  step "a" {
    http {
      url    = "https://example.com"
      method = "GET /x"
    }
  }
}
