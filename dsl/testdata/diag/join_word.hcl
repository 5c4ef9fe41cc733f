workflow "w" {
  parallel "race" {
    join = "first"
    step "a" { run = ["true"] }
    step "b" { run = ["true"] }
  }
}
