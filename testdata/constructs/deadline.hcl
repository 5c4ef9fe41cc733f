# A node has a time in all, retries and waits included.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "bounded" {
  step "slow" {
    agent = agent.worker
    with  = { takes = 1, fails = 100, kind = "transient" }
    retry {
      max_attempts = 50
      base_delay   = "300ms"
      jitter       = "none"
    }

    deadline {
      after    = "3s"
      progress = [50]
    }
  }
}
