workflow "v" {
  default = true
  step "a" { run = ["true"] }
}

workflow "w" {
  default = true
  step "a" { run = ["true"] }
}
