workflow "w" {
  step "create" {
    run = ["create"]
    compensate { run = ["delete", result.output] }
  }
}
