# People are told when a breaker opens and when it closes, once over all runs, and when a rule of adapt comes on and ends.
channel "oncall" {
  type = "file"
  path = "alerts.jsonl"
}

channel "status" {
  type   = "file"
  path   = "status.jsonl"
  dedupe = "0s"
}

agent "remote" {
  type    = "exec"
  command = ["agent"]
  circuit_breaker {
    failures = 1
    reset    = "10s"
    notify   = [channel.oncall]
  }
}

quota "mirror" {
  circuit_breaker {
    failures = 1
    reset    = "10s"
    notify   = [channel.oncall, channel.status]
  }
}

workflow "calls" {
  default         = true
  max_concurrency = 2

  adapt {
    when     = "metrics.failed >= 1"
    until    = "metrics.attempts >= 3"
    cooldown = "1h"
    notify   = [channel.status]
  }

  step "ask" {
    agent = agent.remote
    with  = { fails = 1 }
    retry { max_attempts = 2 }
  }

  step "fetch" {
    depends_on = [step.ask]
    run        = ["flaky", "2"]
    quota      = quota.mirror
    retry { max_attempts = 2 }
  }
}
