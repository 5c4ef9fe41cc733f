workflow "w" {
  step "a" {
    http {
      url    = "https://example.com"
      expect = ["200", 404]
    }
  }
}
