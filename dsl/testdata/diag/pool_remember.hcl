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
    remember {
      lesson = "x"
      agent  = pool.team
    }
  }
}
