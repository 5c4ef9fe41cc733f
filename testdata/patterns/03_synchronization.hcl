# 3, synchronization: an activity begins when several branches have ended.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "join" {
  parallel "prepare" {
    step "bill" {
      agent = agent.worker
      with  = { takes = 3 }
    }

    step "pack" {
      agent = agent.worker
      with  = { takes = 1 }
    }
  }

  step "ship" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.prepare]
  }
}
