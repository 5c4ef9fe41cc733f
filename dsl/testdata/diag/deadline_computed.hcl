workflow "w" {
  input "at" { type = list(number) }
  step "a" {
    run = ["true"]
    deadline {
      after    = "1h"
      progress = input.at
    }
  }
}
