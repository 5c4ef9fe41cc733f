flowrun {
  engine = "temporal://127.0.0.1"
}
workflow "w" {
  step "a" { run = ["true"] }
}
