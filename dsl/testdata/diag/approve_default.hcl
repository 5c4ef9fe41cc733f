workflow "w" {
  step "a" {
    approve {
      prompt  = "Ship?"
      default = "approve"
      input "day" { type = string }
    }
  }
  step "b" {
    approve {
      prompt  = "Ship?"
      timeout = "1d"
      default = "aprove"
    }
    retry { max_attempts = 2 }
    timeout = "1h"
  }
}
