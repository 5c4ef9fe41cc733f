workflow "w" {
  step "a" {
    sync { point = "release" }
  }
}
