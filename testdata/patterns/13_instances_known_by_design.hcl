# 13, multiple instances known by design: three are written down; what follows waits for all of them.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "sign" {
  step "director" {
    for_each = ["ada", "grace", "mary"]
    agent    = agent.worker
    with     = { takes = each.key + 1 }
  }

  step "publish" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.director]
  }
}
