agent "clerk" {
  type     = "chat"
  provider = "openai"
  model    = "m"
  server "b" {
    url   = "localhost"
    tools = ["t"]
    env   = { A = "b" }
  }
  server "a" {
    command = ["x"]
    tools   = ["t"]
    headers = { A = "b" }
  }
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
