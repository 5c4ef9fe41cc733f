memory {
  embedder = "openai"
  embedder {
    provider = "ollama"
  }
}

workflow "w" {
  step "a" { value = 1 }
}
