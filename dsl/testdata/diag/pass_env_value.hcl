workflow "w" {
  step "a" {
    run      = ["deploy"]
    pass_env = ["TOKEN=abc"]
  }
}
