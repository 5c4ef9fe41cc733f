agent "ann" {
  type   = "null"
  output = object({ approve = bool })
}

agent "bo" {
  type   = "null"
  output = object({ approve = bool })
}

pool "p" { members = [agent.ann] }

workflow "w" {
  consensus "merge" {
    participants = [agent.ann, agent.bo, pool.p]
  }

  consensus "m2" {
    participants = [agent.ann, agent.bo]
  }

  consensus "m3" {
    participants = [agent.ann, agent.bo]
    vote         = result.output.aprove
    method       = "weighted"
    weights      = { ann = 0.4, b = 0.6 }
    quorum       = 3
    threshold    = 2
  }

  consensus "m4" {
    participants = [agent.ann, agent.xo, pool.x]
    vote         = result.output.approve
    tie_breaker  = agent.nobody
  }

  consensus "m5" {
    participants = []
  }

  consensus "m6" {
    participants = [agent.ann, agent.bo]
    vote         = result.output.approve
    weights      = { ann = 1 }
  }

  consensus "m7" {
    participants = [agent.ann, agent.bo]
    vote         = result.output.approve
    method       = "weighted"
    weights      = { ann = 0.5, bo = 0.4 }
  }

  consensus "m8" {
    participants = [pool.p["ann"]]
    vote         = result.output.approve
    method       = "weigted"
  }

  step "x" { value = step.m7.output.decision }

  step "y" {
    when  = "step.m7.output.decision"
    value = 1
  }
}
