workflow "mend" {
  input "rate" { type = number }
  step "fix" { run = ["true"] }
}
workflow "w" {
  default = true
  adapt {
    when     = "metrics.error_rate > 0.05"
    workflow = workflow.mend
    with     = { rat = 1 }
  }
  step "b" { run = ["true"] }
}
