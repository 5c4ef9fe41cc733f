workflow "w" {
  step "a" {
    value = 1
    compensate { run = ["undo"] }
  }
}
