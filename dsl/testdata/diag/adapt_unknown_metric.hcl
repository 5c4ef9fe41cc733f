workflow "w" {
  adapt {
    when            = "metrics.error_rat > 0.05"
    max_concurrency = 1
  }
  step "a" {
    for_each = [1, 2]
    run      = ["true"]
  }
}
