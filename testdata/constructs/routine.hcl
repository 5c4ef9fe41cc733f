# Routines start runs at the moments of their schedules. What was missed is made up for as each of them says, and no moment starts two runs.
variable "depth" {
  type    = string
  default = "full"
}

routine "hourly" {
  cron     = "0 * * * *"
  workflow = workflow.report
  with     = { depth = var.depth, length = 3 }
}

routine "catch_up" {
  cron     = "CRON_TZ=Europe/Berlin 30 */2 * * *"
  workflow = workflow.report
  with     = { depth = "catch up" }
  missed   = "all"
}

routine "strict" {
  every    = "1h"
  workflow = workflow.count
  missed   = "skip"
}

routine "long" {
  every    = "20m"
  workflow = workflow.long
  overlap  = "skip"
  jitter   = "1m"
}

routine "off" {
  cron     = "@hourly"
  workflow = workflow.long
  paused   = true
}

workflow "main" {
  default = true
  step "now" { value = run.cause.kind }
  output "kind" { value = step.now.output }
}

workflow "report" {
  input "depth" { type = string }

  input "length" {
    type    = number
    default = 1
  }

  step "write" { value = "${input.depth} ${input.length}" }
  output "text" { value = step.write.output }
  output "cause" { value = [run.cause.kind, run.cause.name, run.cause.scheduled_at] }
}

workflow "count" {
  step "one" {
    kv {
      incr = "strict"
      by   = 1
    }
  }
}

workflow "long" {
  step "rest" {
    wait { duration = "30m" }
  }
}
