# Each worker can make 100 calls in any minute, in all runs together. A further call waits until the window has room.

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
