agent "Dev" { type = "null" }
agent "dev" { type = "null" }
workflow "w" {
  step "a" {
    agent = agent.dev
  }
}
