escalation "e" {
  level "person" {
    await     = "decision"
    after     = "1h"
    after_ack = "4h"
    workflow  = workflow.mend
  }
  level "late" {
    after     = "1h"
    after_ack = "4h"
  }
  level "other" {
    reassign = agent.a
    await    = "answer"
    after    = "soon"
  }
}

agent "a" { type = "null" }

workflow "mend" {
  step "b" { value = 1 }
}

workflow "w" {
  default = true
  step "a" {
    run      = ["a"]
    escalate = escalation.e
  }
}
