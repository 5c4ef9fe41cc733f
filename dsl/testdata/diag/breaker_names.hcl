agent "dev" {
  type    = "exec"
  command = ["dev"]
  circuit_breaker {
    when = "error.kind == 'transient' && elapsd > 5 && step.a.status == 'failed'"
  }
}

workflow "w" {
  step "a" {
    agent = agent.dev
    retry { when = "elapsed < 5" }
  }
}
