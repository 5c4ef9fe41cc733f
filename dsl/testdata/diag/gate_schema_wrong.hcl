gate "shape" {
  schema = { type = "objekt" }
}
workflow "w" {
  step "a" {
    run   = ["true"]
    parse = "json"
    gates = [gate.shape]
  }
}
