workflow "w" {
  step "my step" { run = ["true"] }
}
