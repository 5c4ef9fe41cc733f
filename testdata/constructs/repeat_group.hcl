# A group is repeated; its nodes see the iteration before through last.
workflow "refine" {
  sequence "round" {
    repeat {
      until = "step.score.output >= 3"
      max   = 5
    }

    step "draft" { value = { text = "draft ${iteration}", before = last.step.score.output } }
    step "score" { value = iteration }
  }

  output "text" { value = step.round.output }
}
