workflow "w" {
  step "idle" {
    timeout = "5s"
  }
}
