# 5, simple merge: alternative branches come together without waiting for each other; what follows begins once.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "merge" {
  switch "pay" {
    case {
      when = "1 > 2"
      step "card" {
        agent = agent.worker
        with  = { takes = 1 }
      }
    }

    default {
      step "invoice" {
        agent = agent.worker
        with  = { takes = 2 }
      }
    }
  }

  step "thank" {
    agent      = agent.worker
    with       = { takes = 1 }
    depends_on = [step.pay]
  }
}
