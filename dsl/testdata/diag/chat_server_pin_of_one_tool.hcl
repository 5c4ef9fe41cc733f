agent "clerk" {
  type     = "chat"
  provider = "openai"
  model    = "m"
  server "a" {
    command = ["x"]
    tools   = ["search"]
    pin     = file("search.tool.json")
  }
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
