workflow "w" {
  step "a" {
    run = ["true"]
    trigger_rule = "all_done"
  }
}
