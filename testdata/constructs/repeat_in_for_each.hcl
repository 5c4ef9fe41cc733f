# for_each lies outside, repeat inside.
workflow "poll" {
  step "ask" {
    for_each = ["a", "b"]
    value    = "${each.value}${iteration}"
    repeat {
      until = "iteration > each.key + 1"
      max   = 5
    }
  }

  output "answers" { value = step.ask.output }
}
