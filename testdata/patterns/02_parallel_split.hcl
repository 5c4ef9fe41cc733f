# 2, parallel split: after one activity several begin at once.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "split" {
  step "receive" {
    agent = agent.worker
    with  = { takes = 1 }
  }

  step "bill" {
    agent      = agent.worker
    with       = { takes = 2 }
    depends_on = [step.receive]
  }

  step "pack" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.receive]
  }
}
