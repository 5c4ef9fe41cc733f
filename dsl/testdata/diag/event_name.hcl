workflow "w" {
  step "a" {
    emit { event = "Build Done" }
  }
}
