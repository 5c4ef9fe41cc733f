workflow "w" {
  step "a" {
    run = ["true"]
    task = "do it"
  }
}
