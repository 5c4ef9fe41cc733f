quota "db" { capacity = 1 }

agent "writer" {
  type    = "exec"
  command = ["writer"]
}

workflow "w" {
  default = true
  parallel "both" {
    budget { tokens = 100 }
    step "bounded" { call = workflow.bounded }
    sequence "holds" {
      quota = quota.db
      step "x" { agent = agent.writer }
    }
  }
  parallel "near" {
    budget { cost_usd = 1 }
    sequence "inside" {
      budget { cost_usd = 0.5 }
      step "free" { call = workflow.free }
    }
    sequence "keeps" {
      quota = quota.db
      step "y" { agent = agent.writer }
    }
  }
  parallel "good" {
    budget { tokens = 100 }
    step "other" { call = workflow.free }
    sequence "waits" {
      quota = quota.db
      step "z" { agent = agent.writer }
    }
  }
}

workflow "bounded" {
  budget { tokens = 50 }
  step "a" {
    agent = agent.writer
    quota = quota.db
  }
}

workflow "free" {
  step "b" {
    agent = agent.writer
    quota = quota.db
  }
}
