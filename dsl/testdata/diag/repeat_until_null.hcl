workflow "w" {
  sequence "round" {
    repeat {
      until = "step.check.output.done"
      max   = 5
    }
    step "work" { run = ["work"] }
    step "check" {
      when   = "step.work.output != ''"
      run    = ["cat", "state.json"]
      parse  = "json"
      output = object({ done = bool })
    }
  }
}
