workflow "w" {
  step "a" {
    wait {
      duration = "1h"
      match    = "event.ok"
      data     = object({ ok = bool })
      timeout  = "2h"
    }
  }
}
