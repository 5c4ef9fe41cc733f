channel "ops" {
  type = "webhook"
  url  = "https://hooks.example.com/ops"
}

escalation "people" {
  level "ask" {
    notify    = [channel.ops]
    await     = "decision"
    after_ack = "4h"
  }
}

workflow "w" {
  step "build" {
    run      = ["make"]
    escalate = escalation.people

    deadline {
      after    = "30m"
      progress = [50, 90]
      notify   = [channel.ops]
    }

    retry {
      max_attempts = 5
      base_delay   = "2s"
      multiplier   = 3
      max_delay    = "30s"
      jitter       = "equal"
    }
  }
}
