agent "clerk" {
  type     = "chat"
  provider = "openai"
  model    = "m"
  context_tokens = 10
  server "a" {
    command = ["x"]
    tools   = ["t"]
  }
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
