# A step that fails on purpose; what observes it goes on.
workflow "choice" {
  step "refuse" {
    fail {
      message = "nothing to do here"
      kind    = "fatal"
    }
  }

  step "explain" {
    value = step.refuse.error.message
    when  = "step.refuse.status == 'failed'"
  }
}
