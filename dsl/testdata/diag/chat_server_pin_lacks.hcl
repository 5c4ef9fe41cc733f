agent "clerk" {
  type     = "chat"
  provider = "openai"
  model    = "m"
  server "a" {
    command = ["x"]
    tools   = ["serch"]
    pin     = "[{\"name\":\"search\",\"inputSchema\":{\"type\":\"object\"}}]"
  }
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
