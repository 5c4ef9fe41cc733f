workflow "w" {
  step "s" { run = ["mkae", "test"] }
  step "line" { run = ["ls -l *.go"] }
  step "move" { run = ["cd", "site"] }
}
