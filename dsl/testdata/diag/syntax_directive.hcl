workflow "w" {
  step "a" {
    value = "%{ fi true }x%{ endif }"
  }
}
