# 7, structured synchronizing merge: what follows a multi-choice waits for the branches that were taken, and for no other.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "call-out" {
  step "report" { value = { fire = true, injured = false } }

  step "firefighters" {
    agent = agent.worker
    with  = { takes = 3 }
    when  = "step.report.output.fire"
  }

  step "ambulance" {
    agent = agent.worker
    with  = { takes = 1 }
    when  = "step.report.output.injured"
  }

  step "file-report" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.firefighters, step.ambulance]
  }
}
