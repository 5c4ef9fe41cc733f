quota "gpu" { capacity = 2 }
quota "gpu" { capacity = 3 }
quota "GPU" { capacity = 3 }

workflow "w" {
  step "a" {
    run   = ["true"]
    quota = [quota.gpu, quota.gpu]
  }
  step "b" {
    run   = ["true"]
    quota = { gpu = 1, gpu = 2 }
  }
}
