agent "coder" {
  type    = "exec"
  command = ["coder"]
  timeout = "5m"
  memory { recall = false }
}
agent "told" {
  type    = "exec"
  command = ["coder"]
  timeout = "5m"
  memory {}
}

workflow "w" {
  step "never" {
    agent = agent.coder
    task  = "Do it."
    retry { when = "recalled.count > 0" }
  }
  step "sometimes" {
    agent    = agent.coder
    fallback = [agent.told]
    task     = "Do it."
    gate "used" { check = "recalled.count > 0" }
  }
  step "program" {
    run = ["true"]
    gate "used" { check = "recalled.count > 0" }
  }
}
