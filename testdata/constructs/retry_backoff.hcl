# Attempts follow after their backoff, which doubles.
workflow "patient" {
  step "flaky" {
    run = ["flaky", "4"]
    retry {
      max_attempts = 5
      base_delay   = "100ms"
      jitter       = "none"
    }
  }
}
