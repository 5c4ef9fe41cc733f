workflow "w" {
  step "a" {
    for_each = 3
    run = ["true"]
  }
}
