# An output that does not fit its schema is refused.
gate "shape" {
  schema = { type = "object", required = ["name"], properties = { name = { type = "string" } } }
}

workflow "shaped" {
  step "good" {
    value = { name = "ada" }
    gates = [gate.shape]
  }

  step "bad" {
    value = { name = 3 }
    gates = [gate.shape]
  }
}
