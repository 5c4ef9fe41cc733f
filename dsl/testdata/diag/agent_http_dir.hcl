agent "a" {
  type = "http"
  url  = "https://example.com/agent"
  dir  = "work"
}
workflow "w" {
  step "s" { agent = agent.a }
}
