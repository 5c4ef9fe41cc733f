workflow "w" {
  step "a" {
    run = ["a"]
    env = { a.b = 1 }
  }
}
