# An attempt that takes too long is tried again; a group that does fails.
workflow "late" {
  step "attempt" {
    run     = ["sleep", "60"]
    timeout = "1s"
    retry {
      max_attempts = 2
      jitter       = "none"
    }
  }

  sequence "group" {
    timeout = "6s"
    step "a" { run = ["sleep", "60"] }
    step "b" { run = ["say", "never"] }
  }
}
