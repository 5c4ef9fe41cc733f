quota "db" { capacity = 1 }
agent "g" {
  type    = "exec"
  command = ["g"]
  quota   = quota.db
}
workflow "inner" {
  step "x" { agent = agent.g }
}
workflow "repair" {
  step "c" { call = workflow.inner }
}
workflow "w" {
  default = true
  parallel "p" {
    adapt {
      when     = "metrics.failed > 0"
      workflow = workflow.repair
    }
    step "x" { run = ["x"] }
  }
}
