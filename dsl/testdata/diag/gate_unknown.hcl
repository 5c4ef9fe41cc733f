workflow "w" {
  step "a" {
    run = ["true"]
    gates = [gate.tests]
  }
}
