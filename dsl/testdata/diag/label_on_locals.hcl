locals "x" {
  a = 1
}
workflow "w" {
  step "a" {
    run = ["true"]
  }
}
