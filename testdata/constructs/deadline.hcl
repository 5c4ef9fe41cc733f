# A node has a time in all, retries and waits included.
agent "worker" { type = "null" }

workflow "bounded" {
  step "slow" {
    agent = agent.worker
    with  = { takes = 2, fails = 100, kind = "transient" }
    retry {
      max_attempts = 50
      jitter       = "none"
    }

    deadline {
      after    = "10s"
      progress = [50]
    }
  }
}
