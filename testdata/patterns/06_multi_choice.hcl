# 6, multi-choice: of several branches those are taken whose conditions hold, here two of three.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "call-out" {
  step "report" { value = { fire = true, injured = true, spill = false } }

  step "firefighters" {
    agent = agent.worker
    with  = { takes = 2 }
    when  = "step.report.output.fire"
  }

  step "ambulance" {
    agent = agent.worker
    with  = { takes = 1 }
    when  = "step.report.output.injured"
  }

  step "cleaners" {
    agent = agent.worker
    with  = { takes = 1 }
    when  = "step.report.output.spill"
  }
}
