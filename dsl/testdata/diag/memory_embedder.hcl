memory {
  embedder {
    provider = "openai"
    base_url = "localhost:8080"
    key_env  = "sk-abc"
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
