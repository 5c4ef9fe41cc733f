quota "model" {
  attempts = 100
  tokens   = 500000
  per      = "1h"
}

agent "writer" {
  type    = "exec"
  command = ["./agent"]
  timeout = "10m"
  quota   = quota.model
}

workflow "w" {
  max_concurrency = 8

  adapt {
    when            = "metrics.cpu > 80"
    for             = "1m"
    cooldown        = "10m"
    max_concurrency = 2
  }

  step "write" {
    agent = agent.writer
    task  = "Write the page."
  }
}
