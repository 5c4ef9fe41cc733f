agent "ann" { type = "null" }
agent "bo" { type = "null" }
pool "writers" { members = [agent.ann, agent.bo] }

workflow "w" {
  consensus "all" {
    on_tie       = "fail"
    participants = pool.writers
  }

  compete "best" {
    agents = [pool.writers]
    select = "ann"
  }

  step "agent" {
    handoff {
      to      = agent.an
      summary = "x"
      next    = "y"
    }
  }

  step "pool" {
    handoff {
      to      = pool.writer
      summary = "x"
      next    = "y"
    }
  }

  step "member" {
    handoff {
      to      = pool.writers["cy"]
      summary = "x"
      next    = "y"
    }
  }

  step "number" {
    handoff {
      to      = 3
      summary = "x"
      next    = "y"
    }
  }
}
