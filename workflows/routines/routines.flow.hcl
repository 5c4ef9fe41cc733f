# Three workflows start by the clock: a report every night, a check of the inbox every 15 minutes in office hours, and the bookings of
# each hour. Missed hours of the bookings run later. Each scheduled time starts exactly one run, even if processes are killed.
#
#   flowrun routines list --next 3

routine "nightly" {
  cron     = "30 2 * * *"
  timezone = "Europe/Berlin"
  workflow = workflow.report
  with     = { depth = "full" }
  jitter   = "10m"
}

routine "office_hours" {
  cron     = "*/15 8-17 * * MON-FRI"
  timezone = "Europe/Berlin"
  workflow = workflow.look
  missed   = "none"
  overlap  = "skip"
}

routine "bookings" {
  every    = "1h"
  workflow = workflow.book
  missed   = "all"
}

workflow "report" {
  default = true
  input "depth" {
    type    = string
    default = "short"
  }

  step "write" {
    run = ["echo", "a ${input.depth} report"]
  }

  output "report" { value = step.write.stdout }
}

workflow "look" {
  step "inbox" {
    run     = ["echo", "nothing new"]
    timeout = "10m"
  }
}

# The hour that is booked is the moment of the routine, not the time at which the run really began.
workflow "book" {
  step "hour" {
    run = ["echo", "booked ${coalesce(run.cause.scheduled_at, run.started_at)}"]
  }

  step "count" {
    kv { incr = "booked" }
    depends_on = [step.hour]
  }

  output "booked" { value = step.hour.stdout }
}
