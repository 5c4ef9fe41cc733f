# A consensus and a competition as a whole can be repeated, as any group can. Each round votes, or competes, again.

agent "ann" {
  type = "null"
}

agent "bo" {
  type = "null"
}

workflow "w" {
  consensus "agree" {
    participants = [agent.ann, agent.bo]
    with         = { round = iteration, before = last.step.agree_count.output.tally }
    vote         = result.agent == "ann" || result.output.round > 2 ? "yes" : "no"

    repeat {
      until = "step.agree_count.output.decision != null"
      max   = 5
    }
  }

  compete "best" {
    agents     = [agent.ann, agent.bo]
    with       = { round = iteration }
    score      = result.agent == "bo" ? result.output.round : 0
    depends_on = [step.agree]

    repeat {
      until = "result.output.round == 2"
      max   = 5
    }
    adapt {
      when            = "metrics.failed > 3"
      max_concurrency = 1
    }
  }

  output "agree" { value = [step.agree.output.decision, step.agree.iterations] }
  output "best" { value = [step.best.winner, step.best.iterations, step.best.output.round] }
}
