workflow "w" {
  step "a" {
    wait {
      event = "done"
      match = "event.oj"
      data  = object({ ok = bool })
    }
  }
}
