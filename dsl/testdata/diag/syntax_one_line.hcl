workflow "w" {
  step "a" { run = ["true"], timeout = "5s" }
}
