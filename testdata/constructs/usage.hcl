# What attempts used can be read of a node and of the run, and decide who has the next task.
agent "strong" {
  type    = "exec"
  command = ["agent"]
}

agent "cheap" {
  type    = "exec"
  command = ["agent"]
}

workflow "spend" {
  sequence "drafts" {
    step "first" {
      agent = agent.strong
      with  = { fails = 1, kind = "transient" }
      retry {
        max_attempts = 2
        base_delay   = "100ms"
        jitter       = "none"
      }
    }

    step "second" {
      agent = run.usage.attempts < 2 || run.usage.cost_usd > 1 ? agent.cheap : agent.strong
    }
  }

  output "attempts" { value = step.drafts.usage.attempts }
  output "tokens" { value = run.usage.tokens }
  output "second" { value = step.second.agent }
}
