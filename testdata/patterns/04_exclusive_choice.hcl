# 4, exclusive choice: one of several branches is taken, by what is known then.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "choice" {
  step "weigh" { value = { kilos = 12 } }

  switch "carrier" {
    case {
      when = "step.weigh.output.kilos > 20"
      step "truck" {
        agent = agent.worker
        with  = { takes = 1 }
      }
    }

    case {
      when = "step.weigh.output.kilos > 10"
      step "van" {
        agent = agent.worker
        with  = { takes = 1 }
      }
    }

    default {
      step "bike" {
        agent = agent.worker
        with  = { takes = 1 }
      }
    }
  }
}
