variable "key" {
  type      = string
  sensitive = true
}

variable "open" {
  type    = string
  default = "x"
}

on "order.paid" {
  workflow  = workflow.w
  signature = "github"
}

on "webhook.*" {
  workflow = workflow.w
  secret   = var.key
}

on "webhook.none" { workflow = workflow.w }

on "webhook.open" {
  workflow = workflow.w
  secret   = var.open
}

on "webhook.made" {
  workflow = workflow.w
  secret   = "x-${var.key}"
}

on "webhook.named" {
  workflow = workflow.w
  secret   = var.key
  header   = "X-Signature"
}

on "webhook.hmac" {
  workflow  = workflow.w
  secret    = var.key
  signature = "hmac"
  timestamp = "X Time"
  headers   = ["X-Kind", "Authorization", "a:b"]
}

on "webhook.both" {
  workflow  = workflow.w
  secret    = var.key
  signature = "github"
}

on "webhook.both" {
  workflow = workflow.v
  secret   = var.key
}

on "webhook.types" {
  workflow = workflow.w
  secret   = var.key
  data     = object({ id = string })
  when     = "event.body.id > 3 && event.id == 'x' && event.delivery != ''"
}

workflow "w" {
  step "a" { run = ["true"] }
}

workflow "v" {
  step "a" { run = ["true"] }
}
