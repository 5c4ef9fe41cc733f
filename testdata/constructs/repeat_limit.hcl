# A repeat that never gets there fails with the reason limit.
workflow "poll" {
  step "ask" {
    value = { ready = false }
    repeat {
      until = "result.output.ready"
      max   = 3
    }
  }

  step "after" {
    value      = 1
    depends_on = [step.ask]
  }
}
