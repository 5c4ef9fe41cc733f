workflow "w" {
  step "a" {
    run          = ["true"]
    capabilities = ["gpu"]
  }
}
