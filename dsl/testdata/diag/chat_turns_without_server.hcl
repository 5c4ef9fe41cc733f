agent "clerk" {
  type     = "chat"
  provider = "openai"
  model    = "m"
  max_turns      = 3
  context_tokens = 5000
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
