workflow "w" {
  step "a" {
    run      = ["true"]
    priority = "hihg"
  }
}
