agent "ann" {
  type = "null"
}
agent "ben" {
  type = "null"
}
pool "team" {
  members = [agent.ann, agent.ben]
}
memory { editor = pool.team }
workflow "w" {
  step "a" {
    agent = pool.team
  }
}
