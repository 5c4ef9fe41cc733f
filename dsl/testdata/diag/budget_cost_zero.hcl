agent "x" {
  type    = "exec"
  command = ["x"]
}
workflow "w" {
  step "a" {
    agent = agent.x
    budget {
      cost_usd = 0
    }
  }
}
