agent "a" {
  type     = "exec"
  command  = ["x"]
  pass_env = "HOME"
}
workflow "w" {
  step "a" {
    agent = agent.a
  }
}
