workflow "w" {
  step "a" {
    wait {
      duration = "1h"
      at       = "2030-01-31T09:00:00Z"
    }
  }
}
