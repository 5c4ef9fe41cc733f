workflow "w" {
  step "a" {
    run = ["echo", each.value]
  }
}
