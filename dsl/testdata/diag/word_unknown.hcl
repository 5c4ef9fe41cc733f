workflow "w" {
  step "a" {
    run = ["true"]
    parse = "jsn"
  }
}
