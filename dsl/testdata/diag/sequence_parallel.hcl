workflow "w" {
  sequence "checks" {
    step "lint" { run = "echo lint" }
    step "test" { run = ["echo", "test"] }
  }
}
