agent "ann" {
  type      = "human"
  command   = ["ann"]
  heartbeat = "1m"
  rate_limit {
    requests = 1
    per      = "1m"
  }
}

workflow "w" {
  step "a" {
    agent = agent.ann
    task  = "Look"
  }
}
