# Rules of the file say what an error means: an exit code that is worth another attempt, one that is not, and one of an agent. The
# nearest rule that holds decides.
agent "worker" {
  type    = "exec"
  command = ["agent"]
  retry {
    max_attempts = 3
    base_delay   = "100ms"
    jitter       = "none"
  }
  classify {
    when = "attempt == 2"
    kind = "blocking"
  }
}

workflow "sort" {
  classify {
    when = "error.exit_code in [3, 4]"
    kind = "fatal"
  }

  step "gives_up" {
    run      = ["exit", "3"]
    on_error = "continue"
    retry { max_attempts = 5 }
  }

  sequence "inside" {
    on_error = "continue"
    classify {
      when = "error.exit_code == 3"
      kind = "blocking"
    }

    step "nearer" {
      run = ["exit", "3"]
      retry { max_attempts = 5 }
    }
  }

  step "tries_on" {
    run      = ["exit", "4"]
    on_error = "continue"
    retry {
      max_attempts = 2
      base_delay   = "100ms"
      jitter       = "none"
    }
    classify {
      when = "error.exit_code == 4 && elapsed < 3600"
      kind = "transient"
    }
  }

  step "asks" {
    agent    = agent.worker
    with     = { fails = 9 }
    on_error = "continue"
  }

  output "kinds" {
    value = [step.gives_up.error.kind, step.inside.status, step.tries_on.error.kind, step.asks.error.kind]
  }
  output "attempts" { value = [step.gives_up.attempts, step.tries_on.attempts, step.asks.attempts] }
}
