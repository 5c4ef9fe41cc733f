workflo "w" {
  step "a" { run = ["true"] }
}
