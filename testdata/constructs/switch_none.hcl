# No case and no default: the switch has nothing to say, and what follows runs.
workflow "quiet" {
  switch "kind" {
    case {
      when = "1 > 2"
      step "a" { value = 1 }
    }
  }

  step "after" {
    value      = step.kind.output
    depends_on = [step.kind]
  }
}
