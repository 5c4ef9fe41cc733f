routine "hour" {
  cron     = "0 25 * * *"
  workflow = workflow.w
}

routine "seconds" {
  cron     = "0 0 12 * * ?"
  workflow = workflow.w
}

routine "last" {
  cron     = "0 2 L * *"
  workflow = workflow.w
}

routine "escaped" {
  cron     = "0\t2 * * MOM"
  workflow = workflow.w
}

routine "zone" {
  cron     = "CRON_TZ=Europe/Berln 0 2 * * *"
  workflow = workflow.w
}

routine "zones" {
  cron     = "CRON_TZ=Europe/Berlin 0 2 * * *"
  timezone = "Asia/Tokyo"
  workflow = workflow.w
}

routine "name" {
  cron     = "@dayly"
  workflow = workflow.w
}

workflow "w" {
  step "a" { run = ["true"] }
}
