workflow "w" {
  adapt {
    when            = "metrics.error_rate > 0.05"
    max_concurrency = 10 * metrics.error_rate
  }
  step "a" {
    for_each = [1, 2]
    run      = ["true"]
  }
}
