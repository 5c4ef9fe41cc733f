agent "x" { type = "null" }
gate "good" { check = "result.output != null" }
workflow "w" {
  step "a" {
    agent = agent.x
    task  = "write: ${try(feedback, "")}"
    gates = [gate.good]
  }
}
