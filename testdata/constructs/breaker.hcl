# A circuit breaker counts failures in a row. A success sets its count to 0, and an attempt that lost its driver says nothing. While the
# breaker is open, a step waits; the first attempt after that closes the breaker.
agent "remote" {
  type    = "exec"
  command = ["agent"]
  circuit_breaker {
    failures = 3
    reset    = "2s"
  }
}

workflow "calls" {
  step "ask" {
    agent = agent.remote
    with  = { fails = 2 }
    retry { max_attempts = 3 }
  }

  step "again" {
    agent      = agent.remote
    with       = { fails = 2 }
    depends_on = [step.ask]
    retry { max_attempts = 3 }
  }

  step "broken" {
    agent      = agent.remote
    with       = { fails = 3 }
    depends_on = [step.again]
    on_error   = "continue"
    retry { max_attempts = 3 }
  }

  step "late" {
    agent      = agent.remote
    depends_on = [step.broken]
  }

  output "attempts" { value = [step.ask.attempts, step.again.attempts, step.broken.attempts, step.late.attempts] }
}
