# 16, deferred choice: the world decides which branch is taken, by what comes first; the other is withdrawn.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "answer" {
  parallel "first" {
    join   = "any"
    losers = "cancel"
    step "reply" {
      agent = agent.worker
      with  = { takes = 2 }
    }

    step "patience" {
      wait { duration = "5s" }
    }
  }

  switch "then" {
    case {
      when = "step.first.winner == 'reply'"
      step "read" {
        agent = agent.worker
        with  = { takes = 1 }
      }
    }

    default {
      step "remind" {
        agent = agent.worker
        with  = { takes = 1 }
      }
    }
  }
}
