# 9, structured discriminator: what follows begins when the first branch has ended; the others end in peace and count for nothing.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "triage" {
  parallel "check" {
    join   = "first_success"
    losers = "detach"
    step "breathing" {
      agent = agent.worker
      with  = { takes = 1 }
    }

    step "pulse" {
      agent = agent.worker
      with  = { takes = 4 }
    }
  }

  step "treat" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.check]
  }
}
