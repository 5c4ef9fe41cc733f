agent "ann" {
  type = "null"
}
pool "team" { strategy = "round_robin" }
workflow "w" {
  step "a" {
    agent = pool.team
  }
}
