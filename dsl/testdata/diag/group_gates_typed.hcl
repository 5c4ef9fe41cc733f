gate "good" { check = "result.output.lines > 1" }
workflow "w" {
  sequence "build" {
    gates = [gate.good]
    value = { line = step.a.output }
    step "a" { value = 2 }
  }
}
