flowrun {
  engine = "temporal://localhost:7233/default"
}
workflow "w" {
  step "a" { run = ["true"] }
}
