workflow "w" {
  step "b" {
    run  = ["true"]
    when = "metrics.cpu < 50"
  }
}
