# What is more important gets the slot first.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "queue" {
  max_concurrency = 1
  step "first" {
    agent = agent.worker
    with  = { takes = 1 }
  }

  step "low" {
    agent    = agent.worker
    with     = { takes = 1 }
    priority = "low"
  }

  step "high" {
    agent    = agent.worker
    with     = { takes = 1 }
    priority = "high"
  }

  parallel "critical" {
    priority = 20
    step "inner" {
      agent = agent.worker
      with  = { takes = 1 }
    }
  }
}
