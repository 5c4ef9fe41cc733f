workflow "w" {
  step "a" {
    http {
      url       = "https://example.com"
      max_bytes = 1048577
    }
  }
}
