workflow "w" {
  step "a" "b" { run = ["true"] }
}
