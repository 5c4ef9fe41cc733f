workflow "w" {
  step "a" {
    wait {
      at = "2026-01-01T00:00:00Z"
    }
  }
}
