quota "gpu" { capacity = 2 }

workflow "w" {
  step "a" {
    value = 1
    quota = quota.gpu
  }
}
