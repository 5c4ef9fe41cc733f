workflow "w" {
  step "a" {
    run = ["true"]
    run = ["false"]
  }
}
