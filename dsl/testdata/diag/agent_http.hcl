agent "a" {
  type = "http"
}
workflow "w" {
  step "a" {
    agent = agent.a
  }
}
