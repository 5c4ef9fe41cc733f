agent "fixer" {
  type    = "exec"
  command = ["fixer"]
  timeout = "5m"
}

escalation "standard" {
  level "heal" { reassign = agent.fixer }
}

workflow "w" {
  step "test" {
    run      = ["make", "test"]
    escalate = escalation.standard
  }
}
