variable "key" {
  type      = string
  sensitive = true
}

agent "clerk" {
  type     = "chat"
  provider = "openai"
  model    = "m"
  server "a" {
    command = ["x"]
    dir     = var.key
    env     = { KEY = var.key }
    tools   = ["t"]
  }
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
