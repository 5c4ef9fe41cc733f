agent "ann" {
  type = "null"
}
agent "ben" {
  type         = "null"
  capabilities = ["gpu"]
}
pool "team" {
  members = [agent.ann, agent.ben]
}
pool "plain" { members = [agent.ann] }
workflow "w" {
  step "a" {
    agent        = pool.plain
    capabilities = ["gpu"]
  }
}
