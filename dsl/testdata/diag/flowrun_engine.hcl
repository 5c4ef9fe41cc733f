flowrun {
  engine = "kubernetes"
}
workflow "w" {
  step "a" { run = ["true"] }
}
