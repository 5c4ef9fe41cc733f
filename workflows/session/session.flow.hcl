# A login is kept for an hour under a key that all runs share. A run uses the existing session, or logs in and keeps the new session.
# A cache works in the same way: it keeps an expensive result for some time.

workflow "work" {
  default = true
  input "user" {
    type    = string
    default = "ada"
  }

  step "known" {
    kv {
      get       = input.user
      namespace = "sessions"
    }
    output = string
  }

  step "login" {
    run    = ["./agents/login", input.user]
    parse  = "json"
    output = object({ session = string })
    when   = "step.known.output == null"
  }

  step "keep" {
    kv {
      set       = input.user
      value     = step.login.output.session
      ttl       = "1h"
      namespace = "sessions"
    }
    when = "step.known.output == null"
  }

  output "session" { value = step.known.output == null ? step.keep.output : step.known.output }
}

# Three runs in turn: the second is 59 minutes behind the first, and the third 61 minutes.
workflow "day" {
  sequence "runs" {
    step "first" { call = workflow.work }

    step "later" {
      wait { duration = "59m" }
    }

    step "second" { call = workflow.work }

    step "still_later" {
      wait { duration = "2m" }
    }

    step "third" { call = workflow.work }
  }

  output "sessions" { value = [step.first.output.session, step.second.output.session, step.third.output.session] }
}
