workflow "w" {
  step "s" { run = ["mkae", "test"] }
}
