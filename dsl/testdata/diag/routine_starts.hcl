variable "key" {
  type      = string
  sensitive = true
}

routine "unknown" {
  cron     = "@daily"
  workflow = workflow.report
}

routine "missing" {
  cron     = "@daily"
  workflow = workflow.reports
  with     = { dept = "full" }
}

routine "kinds" {
  cron     = "@daily"
  workflow = workflow.reports
  with     = { depth = "full", pages = ["x"], token = "t" }
  overlap  = "never"
  missed   = "twice"
}

routine "secret" {
  cron     = "@daily"
  workflow = workflow.reports
  with     = { depth = var.key, token = "t" }
}

routine "reads" {
  cron     = "@daily"
  workflow = workflow.reports
  with     = { depth = step.a.output, token = run.id }
}

routine "turns" {
  cron     = "@daily"
  workflow = workflow.turns
  overlap  = "queue"
}

routine "turns" {
  cron     = "@weekly"
  workflow = workflow.turns
}

workflow "reports" {
  input "depth" { type = string }
  input "pages" {
    type    = number
    default = 3
  }
  input "token" {
    type      = string
    sensitive = true
  }
  step "a" { run = ["true", input.depth, input.pages] }
}

workflow "turns" {
  concurrency { group = "one" }
  step "a" { run = ["true"] }
}
