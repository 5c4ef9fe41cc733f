workflow "w" {
  step "a" {
    sync {
      point   = 1
      as      = ["api"]
      needs   = "ui"
      ready   = "yes, it is"
      timeout = 3
    }
  }
}
