workflow "w" {
  step "a" { run = ["true"] }
  step "a" { run = ["false"] }
}
