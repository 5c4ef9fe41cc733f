# A few workers do a queue of many items: each item once, five at a time.

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
  retry { max_attempts = 3 }
}

workflow "queue" {
  input "items" {
    type    = list(number)
    default = range(1, 21)
  }

  step "work" {
    for_each        = input.items
    max_concurrency = 5
    agent           = agent.worker
    with            = { item = each.value }
  }

  output "done" { value = length(step.work.output) }
}
