agent "ben" {
  type         = "null"
  capabilities = ["gpu", "", "gpu"]
}
workflow "w" {
  step "a" {
    agent = agent.ben
  }
}
