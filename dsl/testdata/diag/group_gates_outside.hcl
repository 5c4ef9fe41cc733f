gate "good" {
  check   = "result.output.a > 1"
  on_fail = "retry"
}
workflow "w" {
  sequence "build" {
    gates = [gate.good]
    step "a" { value = 2 }
  }
  step "after" { value = step.a.output }
}
