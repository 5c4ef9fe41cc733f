# 18, milestone: an activity is possible once a point is reached, and only as long as the next one is not.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "change" {
  step "ordered" {
    agent = agent.worker
    with  = { takes = 1 }
  }

  step "shipped" {
    wait { duration = "3s" }
  }

  step "change-address" {
    agent        = agent.worker
    with         = { takes = 1 }
    depends_on   = [step.ordered, step.shipped]
    trigger_rule = "one_success"
    when         = "step.shipped.status == 'waiting' || step.shipped.status == 'running'"
  }

  step "too-late" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.shipped]
    when       = "step.change-address.status == 'skipped'"
  }
}
