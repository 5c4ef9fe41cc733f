agent "backend" { type = "null" }
workflow "w" {
  step "a" {
    agent = "backend"
  }
}
