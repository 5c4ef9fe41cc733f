# What all runs of a store may spend in a span of time: attempts count when they start, dollars when an agent has said them. What finds
# the quota spent waits, without a slot, until enough of it lies a span back.
quota "models" {
  cost_usd = 1
  per      = "2s"
}

quota "calls" {
  attempts = 2
  per      = "2s"
}

agent "worker" {
  type    = "exec"
  command = ["agent"]
  quota   = quota.models
}

workflow "share" {
  step "ask" {
    for_each        = [1, 2, 3]
    max_concurrency = 1
    agent           = agent.worker
    with            = { costs = 0.5 }
  }

  step "call" {
    for_each = [1, 2, 3]
    run      = ["true"]
    quota    = quota.calls
  }

  output "cost" { value = step.ask.usage.cost_usd }
}
