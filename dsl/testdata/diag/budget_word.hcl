workflow "w" {
  step "a" {
    run = ["true"]
    budget {
      attempts  = 3
      on_exceed = "stopp"
    }
  }
}
