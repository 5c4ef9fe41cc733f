# What becomes of failures that retries do not settle: a workflow heals and the step tries again with what it returned, another agent
# takes the task over and hears what happened, and a group is made again as a whole. The rule for what nobody can mend comes first.
agent "junior" {
  type    = "exec"
  command = ["agent"]
}

agent "senior" {
  type    = "exec"
  command = ["agent"]
}

pool "team" { members = [agent.junior, agent.senior] }

escalation "standard" {
  rule {
    when  = "error.kind == 'fatal'"
    level = "told"
  }
  rule {
    when  = "attempt >= 2 && error.node == 'task'"
    level = "peer"
  }
  rule { level = "mended" }

  level "mended" {
    workflow = workflow.mend
    with     = { code = error.exit_code }
  }
  level "peer" { reassign = pool.team }
  level "told" {}
}

workflow "work" {
  default  = true
  escalate = escalation.standard

  step "config" {
    run      = ["exit", tostring(try(healed.code, 4))]
    on_error = "continue"
  }

  step "task" {
    agent = agent.junior
    with  = { fails = 2 }
    retry {
      max_attempts = 5
      base_delay   = "100ms"
      jitter       = "none"
    }
  }

  sequence "release" {
    escalate = escalation.standard
    on_error = "continue"
    step "build" { value = try(healed.code, 7) }
    step "ship" {
      run      = ["exit", tostring(step.build.output)]
      escalate = escalation.quiet
    }
  }

  output "config" { value = [step.config.status, step.config.attempts, step.config.escalated] }
  output "task" { value = [step.task.agent, step.task.attempts, step.task.escalated] }
  output "release" { value = [step.release.status, step.release.iterations, step.release.escalated] }
}

escalation "quiet" {
  level "noted" {}
}

workflow "mend" {
  input "code" { type = number }
  step "look" { run = ["say", "mended"] }
  output "code" { value = input.code == 4 ? 5 : 0 }
}
