# A delivery to a webhook starts one run, however often it comes. A delivery that nobody has signed with the key starts none.
variable "key" {
  type      = string
  sensitive = true
}

workflow "work" {
  default = true
  step "a" { value = 1 }
}

# Events of webhooks are events like any other.
workflow "listen" {
  step "heard" {
    wait {
      event   = "webhook.shop"
      timeout = "2h"
    }
  }

  output "heard" { value = step.heard.output.body.id }
}

on "webhook.shop" {
  workflow = workflow.fulfil
  secret   = var.key
  headers  = ["X-Kind"]
  data     = object({ id = string, total = number })
  when     = "event.headers['x-kind'] == 'order'"
  with     = { order = "${event.body.id} by ${event.delivery}" }
}

on "webhook.code" {
  workflow  = workflow.fulfil
  secret    = var.key
  signature = "github"
  with      = { order = "${event.headers["x-github-event"]} of ${event.body.ref}" }
}

on "webhook.plain" {
  workflow  = workflow.fulfil
  secret    = var.key
  signature = "hmac"
  header    = "X-Signature"
  timestamp = "X-Time"
  id        = "X-Id"
  with      = { order = event.body }
}

workflow "fulfil" {
  input "order" { type = string }
  step "ship" { value = input.order }
  output "order" { value = step.ship.output }
  output "cause" { value = [run.cause.kind, run.cause.name, run.cause.source] }
}
