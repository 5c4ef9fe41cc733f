workflow "w" {
  switch "how" {
    default {
      step "a" { run = ["true"] }
    }
  }
}
