# Deployments of one environment take turns: a run waits until the previous run has ended, regardless of who started them. Deployments of two
# environments do not wait for each other. when_busy = "skip" refuses the second run instead, and "cancel_previous" ends the first one.

workflow "deploy" {
  input "env" {
    type    = string
    default = "test"
  }

  input "version" {
    type    = string
    default = "1.4"
  }

  concurrency {
    group     = "deploy-${input.env}"
    when_busy = "queue"
  }

  step "roll_out" {
    run     = ["./agents/deploy", "--env", input.env, "--", input.version]
    timeout = "30m"
    retry {
      max_attempts = 2
      base_delay   = "1m"
      jitter       = "none"
    }
  }

  step "note" {
    kv {
      set       = input.env
      namespace = "deployed"
      value     = input.version
    }
    depends_on = [step.roll_out]
  }

  output "version" { value = step.note.output }
}
