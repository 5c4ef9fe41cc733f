agent "clerk" {
  type     = "chat"
  provider = "openai"
  model    = "m"
  server "a" {
    command = ["x"]
    url     = "http://localhost/mcp"
    tools   = []
  }
  server "b" {
    tool = "t"
  }
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
