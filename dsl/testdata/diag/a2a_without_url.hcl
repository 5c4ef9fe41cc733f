agent "far" { type = "a2a" }

workflow "w" {
  step "a" { agent = agent.far }
}
