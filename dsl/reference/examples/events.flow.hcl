variable "secret" {
  type      = string
  sensitive = true
}

on "webhook.ticket" {
  signature = "hmac"
  secret    = var.secret
  header    = "x-signature"
  id        = "x-delivery"
  timestamp = "x-time"
  headers   = ["x-kind"]
  workflow  = workflow.w
}

on "file.inbox" {
  paths    = ["inbox/*.txt"]
  debounce = "5s"
  workflow = workflow.w
}

routine "night" {
  cron     = "0 3 * * *"
  paused   = true
  workflow = workflow.w
}

workflow "w" {
  step "a" { run = ["true"] }
}
