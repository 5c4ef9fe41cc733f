gate "g" { check = "input.x == 1" }
workflow "w" {
  step "a" {
    run = ["true"]
    gates = [gate.g]
  }
}
