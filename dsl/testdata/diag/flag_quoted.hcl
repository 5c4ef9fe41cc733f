workflow "w" {
  default = "true"
  step "a" { run = ["true"] }
}
