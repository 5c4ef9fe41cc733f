workflow "w" {
  adapt {
    when     = "metrics.error_rate > 0.05"
    workflow = workflow.w
  }
  step "b" { run = ["true"] }
}
