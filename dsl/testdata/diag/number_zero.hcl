workflow "w" {
  max_concurrency = 0
  step "a" { run = ["true"] }
}
