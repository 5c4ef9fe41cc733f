agent "nobody" {
  type = "null"
  memory { learn = false }
}

workflow "w" {
  step "a" { agent = agent.nobody }
}
