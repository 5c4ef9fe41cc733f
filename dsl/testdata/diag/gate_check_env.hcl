gate "g" {
  check = "result.exit_code == 0"
  env   = { A = "1" }
}
workflow "w" {
  step "a" {
    run = ["true"]
    gates = [gate.g]
  }
}
