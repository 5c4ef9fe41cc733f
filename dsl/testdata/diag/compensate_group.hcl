workflow "w" {
  parallel "p" {
    compensate { run = ["undo"] }
    step "a" { run = ["true"] }
  }
}
