workflow "w" {
  step "a" {
    run          = ["true"]
    trigger_rule = "one_failed"
  }
}
