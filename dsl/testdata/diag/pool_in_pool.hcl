agent "ann" {
  type = "null"
}
agent "ben" {
  type = "null"
}
pool "few" { members = [agent.ann] }
pool "team" {
  members = [pool.few, agent.ben]
}
workflow "w" {
  step "a" {
    agent = pool.team
  }
}
