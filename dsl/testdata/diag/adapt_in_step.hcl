workflow "w" {
  step "a" {
    run = ["true"]
    adapt {
      when            = "metrics.cpu > 80"
      max_concurrency = 1
    }
  }
}
