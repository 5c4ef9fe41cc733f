workflow "ci" {
  step "build" {
    run = make build
  }
  step "test" {
    run     = ["make", "test"]
    timeout = 30s
  }
}
