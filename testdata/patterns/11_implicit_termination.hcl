# 11, implicit termination: the run ends when nothing is left to do; no node is marked as the last.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "loose-ends" {
  step "left" {
    agent = agent.worker
    with  = { takes = 1 }
  }

  step "right" {
    agent = agent.worker
    with  = { takes = 2 }
  }

  step "right-again" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.right]
  }
}
