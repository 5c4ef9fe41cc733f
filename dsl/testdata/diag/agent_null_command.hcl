agent "a" {
  type    = "null"
  command = ["x"]
}
workflow "w" {
  step "a" {
    agent = agent.a
  }
}
