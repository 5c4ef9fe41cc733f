gate "shape" {
  schema = "{ type: object }"
}
workflow "w" {
  step "a" {
    value = 1
    gates = [gate.shape]
  }
}
