variable "often" {
  type    = string
  default = "5m"
}

routine "nothing" {
  workflow = workflow.w
}

routine "both" {
  cron     = "@daily"
  every    = "15m"
  workflow = workflow.w
}

routine "never" {
  cron     = "0 0 30 2 *"
  workflow = workflow.w
}

routine "place" {
  cron     = "@daily"
  timezone = "Local"
  workflow = workflow.w
}

routine "unknown" {
  every    = var.often
  workflow = workflow.w
}

routine "short" {
  every    = "10ms"
  workflow = workflow.w
}

routine "number" {
  every    = 15
  workflow = workflow.w
}

routine "late" {
  every    = "15m"
  jitter   = "15m"
  workflow = workflow.w
}

workflow "w" {
  step "a" { run = ["true"] }
}
