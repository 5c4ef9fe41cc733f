workflow "w" {
  step "a" {
    http { url = "https://example.com" }
  }
  step "b" { value = step.a.output.bdy }
}
