workflow "w" {
  step "a" {
    run = ["true"]
    deadline {
      after    = "1h"
      progress = [50, 25]
    }
  }
}
