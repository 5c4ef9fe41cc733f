# What a group says of retries holds for the steps in it; the nearest word wins.
workflow "stubborn" {
  parallel "all" {
    retry {
      max_attempts = 3
      base_delay   = "100ms"
      jitter       = "none"
    }

    step "three" { run = ["flaky", "3"] }

    step "one" {
      run = ["flaky", "2"]
      retry { max_attempts = 1 }
    }
  }
}
