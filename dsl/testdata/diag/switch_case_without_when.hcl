workflow "w" {
  switch "how" {
    case {
      step "a" { run = ["true"] }
    }
  }
}
