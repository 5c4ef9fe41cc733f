quota "gpu" {}

workflow "w" {
  step "a" {
    run   = ["true"]
    quota = quota.gpu
  }
}
