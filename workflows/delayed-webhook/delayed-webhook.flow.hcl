# A timer: after some time, a webhook is called once, with the data that was given. The wait is durable: it costs nothing, and outlives a crash.

workflow "remind" {
  input "in" {
    type    = string
    default = "30m"
  }

  input "data" { type = object({ name = string, text = string }) }

  step "timer" {
    wait { duration = input.in }
  }

  step "hook" {
    http {
      url    = "https://example.com/hooks/reminder"
      method = "POST"
      body   = input.data
    }
    depends_on = [step.timer]
    retry { max_attempts = 5 }
  }
}
