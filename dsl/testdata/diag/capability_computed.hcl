variable "need" { type = string }
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
workflow "w" {
  step "a" {
    agent        = pool.team
    capabilities = [var.need]
  }
}
