variable "token" {
  type      = string
  sensitive = true
}
gate "g" { check = "result.output contains var.token" }
workflow "w" {
  step "a" {
    run   = ["true"]
    gates = [gate.g]
  }
}
