agent "x" { type = "null" }
workflow "w" {
  step "a" {
    run      = ["true"]
    fallback = [agent.x]
  }
}
