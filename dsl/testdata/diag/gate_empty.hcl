gate "g" {
  message = "no"
}
workflow "w" {
  step "a" {
    run = ["true"]
    gates = [gate.g]
  }
}
