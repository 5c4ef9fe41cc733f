agent "ann" {
  type = "null"
}
agent "ben" {
  type = "null"
}
pool "team" {
  members = [agent.ann, agent.ben]
  strategy = "round-robin"
}
workflow "w" {
  step "a" {
    agent = pool.team
  }
}
