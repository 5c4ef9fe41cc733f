gate "g" {
  check   = "result.exit_code == 0"
  on_fail = "escalate"
}
workflow "w" {
  step "a" {
    run = ["true"]
    gates = [gate.g]
  }
}
