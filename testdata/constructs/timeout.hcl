# An attempt that takes too long is tried again; a group that does fails.
workflow "late" {
  step "attempt" {
    run     = ["sleep", "60"]
    timeout = "300ms"
    retry {
      max_attempts = 2
      base_delay   = "100ms"
      jitter       = "none"
    }
  }

  sequence "group" {
    timeout      = "2s"
    depends_on   = [step.attempt]
    trigger_rule = "all_done" # so that what fails first is the same on every host
    step "a" { run = ["sleep", "60"] }
    step "b" { run = ["say", "never"] }
  }
}
