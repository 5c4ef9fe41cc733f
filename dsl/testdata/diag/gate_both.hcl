gate "g" {
  check = "result.exit_code == 0"
  run   = ["true"]
}
workflow "w" {
  step "a" {
    run = ["true"]
    gates = [gate.g]
  }
}
