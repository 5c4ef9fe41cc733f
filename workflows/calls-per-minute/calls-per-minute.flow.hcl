# Each worker may call 100 times in any minute, over all runs. A call beyond that waits until the window lets it start.

agent "first" {
  type    = "exec"
  command = ["./agents/worker"]
  rate_limit {
    requests = 100
    per      = "1m"
  }
}

agent "second" {
  type    = "exec"
  command = ["./agents/worker"]
  rate_limit {
    requests = 100
    per      = "1m"
  }
}

workflow "calls" {
  input "first" {
    type    = number
    default = 3
  }

  input "second" {
    type    = number
    default = 3
  }

  step "of_first" {
    for_each = range(input.first)
    agent    = agent.first
  }

  step "of_second" {
    for_each = range(input.second)
    agent    = agent.second
  }
}
