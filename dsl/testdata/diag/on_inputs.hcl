variable "token" {
  type      = string
  sensitive = true
}

on "order.placed" {
  workflow = workflow.w
  data     = object({ id = string, total = number })
  when     = "event.amount > 3 && input.id == 'a'"
  with     = { id = event.total, key = event.id, other = 1 }
}

on "order.lost" { workflow = workflow.w }

on "order.found" {
  workflow = workflow.w
  with     = { id = step.a.output, key = var.token }
}

workflow "w" {
  input "id" { type = string }

  input "key" {
    type      = string
    sensitive = true
  }

  step "a" { run = ["true", event.id] }
}
