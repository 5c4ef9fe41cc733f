agent "a" { type = "null" }

workflow "w" {
  step "s" {
    agent = "yes" ? agent.a : agent.second
  }
  step "t" {
    agent = true ? agent.a : "second"
  }
}
