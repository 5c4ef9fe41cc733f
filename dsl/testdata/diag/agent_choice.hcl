agent "a" { type = "null" }
agent "b" { type = "null" }

workflow "w" {
  input "x" { default = true }
  step "s" {
    agent = input.x ? agent.a : agent.b
  }
}
