workflow "w" {
  step "a" {
    run = ["true"]
    deadline {
      after    = "1h"
      progress = ["25%", "50%", "75%"]
    }
  }
}
