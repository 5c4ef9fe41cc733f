workflow "w" {
  step "a" {
    run = ["true"]
    if = "true"
  }
}
