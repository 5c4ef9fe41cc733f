# 1, sequence: an activity begins when the one before it has ended.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "order" {
  sequence "steps" {
    step "receive" {
      agent = agent.worker
      with  = { takes = 1 }
    }

    step "check" {
      agent = agent.worker
      with  = { takes = 1 }
    }

    step "ship" {
      agent = agent.worker
      with  = { takes = 1 }
    }
  }
}
