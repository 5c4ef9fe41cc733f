workflow "w" {
  step "poll" {
    run   = ["cat", "state.json"]
    parse = "json"
    output = object({ done = bool })
    repeat {
      until = "result.output.done"
      max   = 5
    }
  }
}
