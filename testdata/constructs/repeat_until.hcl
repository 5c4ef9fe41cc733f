# A step is repeated until a condition holds over its result.
workflow "poll" {
  step "ask" {
    value = { ready = iteration >= 3 }
    repeat {
      until = "result.output.ready"
      max   = 5
      delay = "2s"
    }
  }

  output "iterations" { value = step.ask.iterations }
}
