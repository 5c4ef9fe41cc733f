pool "team" {
  members = []
}
workflow "w" {
  step "a" {
    agent = pool.team
  }
}
