# Another agent is asked once the first has used up its attempts.
agent "first" {
  type = "null"
  retry { max_attempts = 2 }
}

agent "second" { type = "null" }

workflow "helped" {
  step "task" {
    agent    = agent.first
    fallback = [agent.second]
    with     = { fails = 2 }
  }

  output "agent" { value = step.task.agent }
  output "attempts" { value = step.task.attempts }
}
