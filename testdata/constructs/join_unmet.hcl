# A join that cannot be met any more fails at once, and the rest is cancelled.
# races
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "quorum" {
  parallel "votes" {
    join = 2
    step "ada" { run = ["exit", "1"] }
    step "grace" { run = ["exit", "1"] }

    step "mary" {
      agent = agent.worker
      with  = { takes = 60 }
    }
  }
}
