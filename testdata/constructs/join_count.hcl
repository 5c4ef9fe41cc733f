# Two successes are enough; the third is cancelled.
# races
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "quorum" {
  parallel "votes" {
    join = 2
    step "ada" {
      agent = agent.worker
      with  = { takes = 1 }
    }

    step "grace" {
      agent = agent.worker
      with  = { takes = 2 }
    }

    step "mary" {
      agent = agent.worker
      with  = { takes = 60 }
    }
  }

  step "decide" {
    value      = "decided"
    depends_on = [step.votes]
  }
}
