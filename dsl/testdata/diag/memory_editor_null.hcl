memory {
  editor = agent.nobody
}
agent "nobody" {
  type = "null"
}
workflow "w" {
  step "a" { run = "true" }
}
