workflow "w" {
  parallel "race" {
    join = "success >= 2"
    step "a" { run = ["true"] }
    step "b" { run = ["true"] }
    step "c" { run = ["true"] }
  }
}
