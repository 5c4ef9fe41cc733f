workflow "w" {
  step "a" { run = ["true"] }
  step "b" {
    run   = ["true"]
    needs = ["a"]
  }
}
