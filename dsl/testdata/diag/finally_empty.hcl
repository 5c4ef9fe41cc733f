workflow "w" {
  step "a" { run = ["true"] }
  finally { timeout = "1m" }
}
