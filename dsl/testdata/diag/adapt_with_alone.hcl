workflow "w" {
  adapt {
    when            = "metrics.error_rate > 0.05"
    max_concurrency = 1
    with            = { rate = 1 }
  }
  step "a" {
    for_each = [1, 2]
    run      = ["true"]
  }
}
