agent "counter" {
  type = "shell"
  run  = "wc -w"
  dir  = "text"

  resources {
    memory     = "256MiB"
    cpu_shares = 512
  }
}

workflow "count" {
  step "count" {
    agent   = agent.counter
    task    = "How many words does this task have?"
    timeout = "1m"
  }
}
