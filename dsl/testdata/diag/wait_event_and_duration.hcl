workflow "w" {
  step "a" {
    wait {
      duration = "1h"
      event    = "done"
    }
  }
}
