workflow "w" {
  parallel "p" {
    join = 3
    step "a" { run = ["true"] }
    step "b" { run = ["true"] }
  }
}
