agent "clerk" {
  type     = "chat"
  provider = "openai"
  model    = "m"
  server "a" {
    command = ["x"]
    tools   = ["t"]
  }
  server "a" {
    url   = "http://localhost/mcp"
    tools = ["t", "t"]
  }
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
