# A timer: after some time, a webhook is called once, with the data that was given. The wait is durable: it costs nothing, and outlives a crash.

workflow "remind" {
  # Where this is empty, a stand-in gets the data.
  input "url" {
    type    = string
    default = ""
  }

  input "in" {
    type    = string
    default = "30m"
  }

  input "data" {
    type    = object({ name = string, text = string })
    default = { name = "review", text = "Look at the plan again." }
  }

  step "timer" {
    wait { duration = input.in }
  }

  step "hook" {
    when = "input.url != ''"
    http {
      url    = input.url
      method = "POST"
      body   = input.data
    }
    depends_on = [step.timer]
    retry { max_attempts = 5 }
  }

  step "stand_in" {
    when       = "input.url == ''"
    run        = ["./agents/hook", jsonencode(input.data)]
    depends_on = [step.timer]
  }
}
