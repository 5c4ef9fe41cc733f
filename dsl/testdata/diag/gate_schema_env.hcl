gate "shape" {
  schema = { type = "object" }
  dir    = "tmp"
}
workflow "w" {
  step "a" {
    value = {}
    gates = [gate.shape]
  }
}
