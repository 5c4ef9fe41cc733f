agent "coder" {
  type    = "exec"
  command = ["coder"]
  timeout = "5m"
}
agent "told" {
  type    = "exec"
  command = ["coder"]
  timeout = "5m"
  memory {}
}

gate "used" { check = "recalled.count > 0" }
gate "answered" { check = "result.output != ''" }

workflow "w" {
  step "untold" {
    agent = agent.coder
    task  = "Do it."
    gates = [gate.answered, gate.used]
  }
  step "told" {
    agent = agent.told
    task  = "Do it."
    gates = [gate.used]
  }
  step "program" {
    run   = ["true"]
    gates = [gate.used]
  }
}
