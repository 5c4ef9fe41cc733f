workflow "w" {
  step "a" {
    for_each = ["x"]
    run = ["echo", each.valeu]
  }
}
