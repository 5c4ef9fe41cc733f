workflow "w" {
  step "no" {
    run = ["true"]
    fail { message = "no" }
  }
}
