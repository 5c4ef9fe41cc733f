quota "disk" { capacity = 1 }
quota "gpu" { capacity = 4 }

workflow "w" {
  default = true
  quota   = quota.gpu
  step "a" { call = workflow.middle }
}

workflow "middle" {
  step "b" { call = workflow.child }
}

workflow "child" {
  quota = { disk = 1 }
  step "c" { run = ["true"] }
}

workflow "right" {
  sequence "both" {
    quota = [quota.gpu, quota.disk]
    step "d" { call = workflow.child }
  }
}
