agent "ann" {
  type = "null"
}
agent "ben" {
  type = "null"
}
pool "team" {
  members = [agent.ann, agent.ben]
}
workflow "w" {
  step "a" {
    agent = pool.taem
  }
}
