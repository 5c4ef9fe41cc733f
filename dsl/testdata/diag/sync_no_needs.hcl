workflow "w" {
  step "a" {
    sync {
      point = "release"
      as    = "api"
      needs = []
    }
  }
}
