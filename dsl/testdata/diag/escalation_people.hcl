escalation "people" {
  level "human" {
    await     = "decision"
    after     = "15m"
    after_ack = "1h"
  }
}

workflow "w" {
  escalate = escalation.people
  step "a" { run = ["true"] }
}
