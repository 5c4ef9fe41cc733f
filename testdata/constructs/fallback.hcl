# Another agent is asked once the first has used up its attempts.
agent "first" {
  type    = "exec"
  command = ["agent"]
  retry {
    max_attempts = 2
    base_delay   = "100ms"
  }
}

agent "second" {
  type    = "exec"
  command = ["agent"]
}

workflow "helped" {
  step "task" {
    agent    = agent.first
    fallback = [agent.second]
    with     = { fails = 2 }
  }

  output "agent" { value = step.task.agent }
  output "attempts" { value = step.task.attempts }
}
