quota "api" {
  circuit_breaker {
    failures = 0
    reset    = "0s"
    notify   = []
  }
}

workflow "w" {
  step "a" {
    run   = ["true"]
    quota = quota.api
  }
}
