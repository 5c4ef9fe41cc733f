# A service that fails gets no calls for a while, from any run. Five failures in a row open its circuit breaker: calls then fail at once, or
# wait. After the reset one call probes the service. If the probe succeeds, the other calls continue. Each service has its own breaker.

quota "tracker" {
  circuit_breaker {
    failures = 5
    reset    = "30s"
  }
}

quota "code_host" {
  circuit_breaker {
    failures = 5
    reset    = "30s"
  }
}

quota "feed" {
  circuit_breaker {
    failures = 2
    reset    = "5m"
  }
}

agent "tracker" {
  type    = "exec"
  command = ["./agents/tracker"]
}

agent "code_host" {
  type    = "exec"
  command = ["./agents/code_host"]
}

agent "feed" {
  type    = "exec"
  command = ["./agents/feed"]
}

# on_error lets a call fail at once while the breaker is open.
workflow "visit" {
  default = true

  step "tracker" {
    agent    = agent.tracker
    quota    = quota.tracker
    on_error = "continue"
  }

  step "code_host" {
    agent    = agent.code_host
    quota    = quota.code_host
    on_error = "continue"
  }
}

# Without it the step waits for the reset.
workflow "patient" {
  step "read" {
    agent = agent.feed
    quota = quota.feed
  }
}
