workflow "w" {
  step "a" {
    run = ["true"]
    memory { recall = true }
  }
}
