channel "team" { type = "bell" }

agent "dev" {
  type    = "exec"
  command = ["dev"]
  circuit_breaker { notify = [channel.taem] }
}

quota "api" {
  circuit_breaker { notify = [channel.team, channel.team] }
}

workflow "w" {
  adapt {
    when   = "metrics.error_rate > 0.1"
    notify = []
  }
  step "a" {
    agent = agent.dev
    quota = quota.api
  }
}
