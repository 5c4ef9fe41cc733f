agent "a" {
  type = "exec"
}
workflow "w" {
  step "a" {
    agent = agent.a
  }
}
