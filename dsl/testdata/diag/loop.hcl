agent "sam" { type = "null" }

workflow "w" {
  input "title" { type = string }
  step "s" { value = input.title }
}

loop "w" {
  agents    = [agent.sma, pool.team, pool.team["x"]]
  lease     = "10s"
  notify    = [channel.ops]
  idle      = "1m"
  idle_max  = "30s"
  source "dispach" {}
  source "dispatch" { every = "1h" }
  source "improvement" {}
  source "improvement" { rotate = [workflow.w, workflow.v] }
  handle { workflow = workflow.w }
  handle {
    when     = "item.tittle == worker"
    workflow = workflow.q
    with     = { title = step.s.output, at = item.assignee }
  }
  limits { tasks_per_hour = 0 }
}

loop "empty" {
  agents    = []
  heartbeat = "2m"
}

loop "empty" {
  agents = [agent.sam]
  source "dispatch" {}
}
