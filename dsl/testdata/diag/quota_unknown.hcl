quota "gpu" { capacity = 2 }

agent "dev" {
  type    = "exec"
  command = ["dev"]
  quota   = [quota.gpo]
}

workflow "w" {
  step "a" {
    agent = agent.dev
    quota = { gpuu = 1 }
  }
  step "b" {
    run   = ["true"]
    quota = "gpu"
  }
}
