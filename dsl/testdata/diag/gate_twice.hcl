gate "g" { run = ["true"] }
workflow "w" {
  step "a" {
    run = ["true"]
    gates = [gate.g, gate.g]
  }
}
