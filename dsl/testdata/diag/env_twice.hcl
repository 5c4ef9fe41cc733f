workflow "w" {
  step "a" {
    run = ["true"]
    env = {
      A = "1"
      A = "2"
    }
  }
}
