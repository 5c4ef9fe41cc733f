flowrun {
  required_version = ">= 1.4, < 2"
}
workflow "w" {
  step "a" { run = ["true"] }
}
