agent "ann" {
  type = "null"
}
pool "team" { members = [agent.ann] }
workflow "w" {
  step "a" {
    agent        = pool.team
    capabilities = ["gpu"]
  }
}
