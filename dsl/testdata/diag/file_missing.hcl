agent "a" { type = "null" }
agent "b" { type = "null" }

workflow "w" {
  input "x" { default = true }
  step "s" {
    task  = file("prompt.md")
    agent = agent.a
  }
}
