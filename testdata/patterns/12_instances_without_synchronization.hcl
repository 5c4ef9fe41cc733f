# 12, multiple instances without synchronization: instances are made, and what follows does not wait for them.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "fines" {
  step "list" { value = ["a", "b"] }

  step "notice" {
    for_each = step.list.output
    agent    = agent.worker
    with     = { takes = 3 }
  }

  step "record" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.list]
  }
}
