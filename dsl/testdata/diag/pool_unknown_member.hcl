agent "ann" {
  type = "null"
}
agent "ben" {
  type = "null"
}
pool "team" {
  members = [agent.ann, agent.bem]
}
workflow "w" {
  step "a" {
    agent = pool.team
  }
}
