agent "x" {
  type    = "exec"
  command = ["x"]
}
workflow "w" {
  step "a" {
    agent    = agent.x
    task     = "do it"
    fallback = [agent.x]
  }
}
