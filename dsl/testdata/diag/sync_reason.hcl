workflow "w" {
  step "a" {
    sync {
      point  = "release"
      as     = "api"
      needs  = ["api", "ui"]
      reason = "tests fail"
    }
  }
}
