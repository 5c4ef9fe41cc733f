# 19, cancel task: one activity is withdrawn while it runs, and the run goes on.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "assess" {
  parallel "assessment" {
    join   = "any"
    losers = "cancel"
    step "expert" {
      agent = agent.worker
      with  = { takes = 60 }
    }

    step "limit" {
      wait { duration = "2s" }
    }
  }

  step "settle" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.assessment]
  }
}
