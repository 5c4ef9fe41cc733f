escalation "none" {}

escalation "standard" {
  rule {
    when  = "error.status == 403"
    level = "humans"
  }
  rule { level = "human" }
  rule { level = "peer" }
  rule {
    when  = "step.a.status == 'failed'"
    level = "peer"
  }
  level "peer" {
    notify   = [channel.nobody]
    reassign = pool.crew
    with     = { x = 1 }
  }
  level "human" {
    workflow = workflow.mend
    with     = { y = healed.y, z = input.a }
    reassign = agent.two
  }
  level "other" { workflow = workflow.mnd }
  level "peer" {}
}

agent "one" {
  type    = "exec"
  command = ["one"]
}

workflow "w" {
  escalate = escalation.stndard
  step "a" {
    agent    = agent.one
    escalate = escalation.standard
    task     = "with ${healed.x}"
  }
  step "b" {
    value    = 1
    escalate = escalation.standard
  }
  sequence "c" {
    gates = [gate.strict]
    step "d" {
      run = ["true"]
      gate "own" {
        check   = "true"
        on_fail = "escalate"
      }
      env = { X = healed.x }
    }
  }
}

gate "strict" {
  check   = "true"
  on_fail = "escalate"
}

workflow "mend" {
  input "x" { type = number }
  step "x" {
    run      = ["true"]
    escalate = escalation.standard
  }
}
