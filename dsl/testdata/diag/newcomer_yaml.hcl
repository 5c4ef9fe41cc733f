workflow "ci" {
  name: ci
  timeout: 30
  step "build" {
    run: make build
  }
}
