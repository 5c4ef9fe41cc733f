memory {
  embedder {
    provider = "opnai"
    key_env  = "KEY"
  }
}

agent "coder" {
  type    = "exec"
  command = ["coder"]
}

workflow "w" {
  step "a" {
    agent = agent.coder
    task  = "Do it."
  }
}
