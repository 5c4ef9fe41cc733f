# Bounds at each level: the run, a group, a for_each.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "bounded" {
  max_concurrency = 3
  step "each" {
    for_each        = range(4)
    max_concurrency = 2
    agent           = agent.worker
    with            = { takes = 1 }
  }

  parallel "group" {
    max_concurrency = 1
    step "a" {
      agent = agent.worker
      with  = { takes = 1 }
    }

    step "b" {
      agent = agent.worker
      with  = { takes = 1 }
    }
  }
}
