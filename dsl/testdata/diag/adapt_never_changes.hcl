workflow "w" {
  adapt {
    when            = "run.id == 'x'"
    max_concurrency = 1
  }
  step "a" {
    for_each = [1, 2]
    run      = ["true"]
  }
}
