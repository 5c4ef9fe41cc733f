workflow "w" {
  sequence "line" {
    join = "any"
    step "a" { run = ["true"] }
    step "b" { run = ["true"] }
  }
}
