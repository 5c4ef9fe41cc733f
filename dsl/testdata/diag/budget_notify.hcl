workflow "w" {
  step "a" {
    run = ["true"]
    budget {
      attempts = 3
      notify   = [channel.x]
    }
  }
}
