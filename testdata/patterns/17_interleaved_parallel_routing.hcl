# 17, interleaved parallel routing: activities in any order that their dependencies allow, and never two at once.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "examine" {
  parallel "patient" {
    max_concurrency = 1
    step "blood" {
      agent = agent.worker
      with  = { takes = 1 }
    }

    step "analyse" {
      agent      = agent.worker
      with       = { takes = 1 }
      depends_on = [step.blood]
    }

    step "x-ray" {
      agent = agent.worker
      with  = { takes = 1 }
    }
  }
}
