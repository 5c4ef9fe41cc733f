locals {
  e = { A = "1" }
}
workflow "w" {
  step "a" {
    run = ["true"]
    env = local.e
  }
}
