workflow "w" {
  step "a" {
    sync {
      point = ""
      as    = ""
      needs = ["api"]
    }
  }
}
