memory { groups = ["backend", "back end", "backend"] }

agent "coder" {
  type    = "exec"
  command = ["coder"]
  memory {
    groups = ["backend", "bakend", "tools"]
  }
}

workflow "w" {
  step "a" {
    agent = agent.coder
    task  = "Do it."
  }
}
