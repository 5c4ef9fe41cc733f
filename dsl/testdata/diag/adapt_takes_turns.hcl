workflow "mend" {
  concurrency { group = "mend" }
  step "fix" { run = ["true"] }
}
workflow "w" {
  default = true
  adapt {
    when     = "metrics.error_rate > 0.05"
    workflow = workflow.mend
  }
  step "b" { run = ["true"] }
}
