agent "sam" { type = "null" }

quota "units" { capacity = 2 }

quota "api" {
  circuit_breaker { failures = 3 }
}

quota "money" {
  cost_usd = 20
  per      = "24h"
}

workflow "w" {
  input "title" { type = string }
  step "s" {
    run   = ["echo", input.title]
    quota = [quota.units, quota.api]
  }
}

loop "one" {
  agents = [agent.sam]
  quota  = [quota.units, quota.ap, quota.api, quota.api]
  source "dispatch" {}
  handle {
    workflow = workflow.w
    with     = { title = item.title }
  }
  target {}
}

loop "two" {
  agents = [agent.sam]
  quota  = { api = 2 }
  source "dispatch" {}
  handle {
    workflow = workflow.w
    with     = { title = item.title }
  }
  target {
    throughput      = 0
    success_rate    = 90
    mean_time       = 3600
    idle            = -1
    escalation_rate = "few"
    retry_rat       = 0.1
  }
  target { idle = 0.5 }
}

loop "three" {
  agents = [agent.sam]
  quota  = quota.money
  source "dispatch" {}
  handle {
    workflow = workflow.w
    with     = { title = item.title }
  }
}
