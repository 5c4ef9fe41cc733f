channel "ops" {
  type = "webhook"
  url  = "https://hooks.example.com/ops"
}

agent "writer" {
  type    = "exec"
  command = ["./agent"]
}

workflow "w" {
  budget {
    tokens    = 200000
    cost_usd  = 5
    on_exceed = "ask"
    notify    = [channel.ops]
  }

  step "write" {
    agent   = agent.writer
    task    = "Write the handbook."
    timeout = "1h"
  }
}
