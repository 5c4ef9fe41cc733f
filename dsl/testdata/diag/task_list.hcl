agent "a" { type = "null" }
workflow "w" {
  input "xs" { type = list(string) }
  step "a" {
    agent = agent.a
    task  = input.xs
  }
}
