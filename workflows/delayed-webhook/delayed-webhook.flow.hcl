# A timer: after some time, the run calls a webhook once, with the given data. The wait is durable: it uses no process, and survives a crash.

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
