escalation "people" {
  level "human" {
    await     = "decision"
    after     = "15m"
    after_ack = "1h"
    notify    = [channel.dev]
  }
}

workflow "w" {
  escalate = escalation.people
  step "a" { run = ["true"] }
}
