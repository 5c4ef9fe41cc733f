flowrun {
  engine = "local"
}
flowrun {
  required_version = ">= 0.1"
}
workflow "w" {
  step "a" { run = ["true"] }
}
