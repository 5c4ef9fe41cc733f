workflow "w" {
  step "a" {
    run = ["a"]
    env = { A: "b" C: "d" }
  }
}
