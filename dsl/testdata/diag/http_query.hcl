workflow "w" {
  step "a" {
    http {
      url   = "https://example.com"
      query = { tags = ["a", "b"] }
    }
  }
}
