quota "db" { capacity = 1 }
quota "gpu" { capacity = 4 }

agent "dev" {
  type    = "exec"
  command = ["dev"]
  quota   = quota.db
}

workflow "w" {
  default = true
  sequence "outer" {
    quota = quota.gpu
    step "own" {
      run   = ["true"]
      quota = [quota.gpu]
    }
    step "agents" { agent = agent.dev }
  }
}
