flowrun {
  required_version = "~> 1"
}
workflow "w" {
  step "a" { run = ["true"] }
}
