agent "a" {
  type  = "shell"
  run   = "cat"
  input = "text"
}
workflow "w" {
  step "a" {
    agent = agent.a
  }
}
