memory {
  embedder {
    provider = "openai"
    model    = "text-embedding-3-small"
    base_url = "http://127.0.0.1:11434/v1"
    key_env  = "EMBEDDER_KEY"
  }
}

workflow "w" {
  step "a" { run = ["true"] }
}
