name = "x"
workflow "w" {
  step "a" {
    run = ["true"]
  }
}
