workflow "ci" {
  step "build" {
    run     = ["make", "build"],
    timeout = "30s",
  }
}
