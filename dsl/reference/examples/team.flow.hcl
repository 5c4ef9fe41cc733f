variable "secret" {
  type      = string
  sensitive = true
}

agent "sam" {
  type         = "exec"
  command      = ["./agent"]
  timeout      = "1h"
  capabilities = ["site"]
}

loop "team" {
  agents = [agent.sam]

  source "dispatch" {}
  source "roadmap" { path = "ROADMAP.md" }

  handle { workflow = workflow.work }
}

loop "night" {
  agents = [agent.sam]

  source "roadmap" { path = "ROADMAP.md" }

  handle { workflow = workflow.work }
}

workflow "work" {
  step "work" {
    agent = agent.sam
    task  = "Do the next item."
  }
}

on "webhook.ticket" {
  signature = "github"
  secret    = var.secret
  workflow  = workflow.work
}
