workflow "w" {
  step "a" {
    http {
      url     = "https://example.com"
      headers = ["accept: text/plain"]
    }
  }
}
