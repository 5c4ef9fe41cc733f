workflow "w" {
  budget {
    attempts = 9
    tokens   = 1000
  }
  step "a" { run = ["true"] }
}
