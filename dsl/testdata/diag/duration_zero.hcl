workflow "w" {
  step "a" {
    run = ["true"]
    timeout = "0s"
  }
}
