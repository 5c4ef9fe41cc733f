workflow "w" {
  adapt {
    when = "metrics.error_rate > 0.05"
  }
  step "a" {
    for_each = [1, 2]
    run      = ["true"]
  }
}
