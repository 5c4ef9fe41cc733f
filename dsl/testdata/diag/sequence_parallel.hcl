workflow "w" {
  sequence "checks" {
    step "lint" { run = ["lint"] }
    step "test" { run = ["test"] }
  }
}
