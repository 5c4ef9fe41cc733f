# What a wait, an approval, a fail and an end do not take.
gate "small" {
  check   = "result.output.size < 3"
  on_fail = "retry"
}

workflow "w" {
  step "no_gate" {
    wait { duration = "1s" }
    retry { max_attempts = 2 }
  }

  step "no_backoff" {
    wait { event = "job" }
    gates = [gate.small]
    retry {
      max_attempts = 2
      base_delay   = "1s"
    }
  }

  step "typed" {
    wait { event = "other" }
    output = string
  }

  step "asked" {
    approve { prompt = "Ship?" }
    output   = string
    env      = { A = "b" }
    fallback = [agent.a]
  }

  step "never" {
    fail { message = "no" }
    gate "there" { check = "result.attempts == 1" }
    timeout = "1s"
  }
}

agent "a" {
  type    = "exec"
  command = ["./a"]
}
