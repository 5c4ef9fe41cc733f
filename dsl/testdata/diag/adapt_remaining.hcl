workflow "w" {
  adapt {
    when            = "metrics.remaining < 60"
    max_concurrency = 1
  }
  step "a" {
    for_each = [1, 2]
    run      = ["true"]
  }
}
