memory { embedder = "none" }

workflow "w" {
  step "a" { run = ["true"] }
}
