workflow "w" {
  step "a" {
    run = ["true"]
    env = { "my-name" = "1" }
  }
}
