# Runs of other workflows, requests, and moments.
variable "host" { default = "https://example.com" }
agent "remote" {
  type    = "http"
  url     = "${var.host}/agent"
  method  = "PUT"
  headers = { x-team = "dev" }
}
workflow "parent" {
  default = true
  step "ask" {
    call    = workflow.child
    with    = { ticket = "T-1", tags = ["a"] }
    timeout = "1h"
    retry { max_attempts = 2 }
  }
  step "get" {
    http {
      url       = "${var.host}/items/${step.ask.output.answer}"
      method    = "PATCH"
      headers   = { accept = "application/json", x-try = attempt }
      query     = { page = 1, all = true }
      body      = { name = step.ask.output.answer }
      expect    = [200, 404]
      follow    = 3
      max_bytes = 1000
    }
    on_lost = "fail"
  }
  step "task" {
    agent = agent.remote
    task  = "look at ${step.get.output.status}: ${jsonencode(step.get.output.body.name)} ${step.get.output.headers["content-type"]}"
  }
  step "morning" {
    wait { at = step.task.output.when }
  }
}
workflow "child" {
  input "ticket" { type = string }
  input "tags" {
    type    = list(string)
    default = []
  }
  step "s" { value = input.ticket }
  output "answer" { value = step.s.output }
}
