agent "strong" { type = "null" }
agent "quick" { type = "null" }
workflow "w" {
  step "a" {
    agent    = agent.quick
    fallback = [agent.storng]
  }
}
