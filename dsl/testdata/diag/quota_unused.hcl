quota "gpu" { capacity = 2 }

workflow "w" {
  step "a" { run = ["true"] }
}
