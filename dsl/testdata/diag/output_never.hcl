workflow "w" {
  step "a" {
    run = ["true"]
    output = number
  }
}
