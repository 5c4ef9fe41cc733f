agent "x" { type = "null" }
gate "good" {
  check   = "result.output != null"
  on_fail = "retry"
}
workflow "w" {
  step "a" {
    agent = agent.x
    task  = "write: ${feedback}"
    gates = [gate.good]
  }
}
