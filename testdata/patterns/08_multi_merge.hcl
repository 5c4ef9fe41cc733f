# 8, multi-merge: branches come together without waiting for each other, and what follows is done once for each of them.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "inspect" {
  sequence "part" {
    for_each = { brakes = 2, tyres = 1 }
    step "inspect" {
      agent = agent.worker
      with  = { takes = each.value }
    }

    step "note" {
      agent = agent.worker
      with  = { takes = 1 }
    }
  }
}
