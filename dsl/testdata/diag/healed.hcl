escalation "one" {
  level "mend" { workflow = workflow.mend }
  level "again" {
    workflow = workflow.mend
    with     = { problem = try(healed.fiel, "none") }
  }
}

escalation "two" {
  level "mend" { workflow = workflow.mend }
  level "other" {
    workflow = workflow.other
    with     = { n = try(healed.file, 1) }
  }
}

workflow "w" {
  step "a" {
    run      = ["build", try(healed.flie, "first.txt")]
    escalate = escalation.one
  }
  step "b" {
    run      = ["build", healed.file]
    escalate = escalation.one
  }
  sequence "c" {
    escalate = escalation.two
    step "d" {
      value = try(healed.lines, 0) + try(healed.file, 0)
    }
    step "e" {
      run      = ["build", try(healed.file, "first.txt"), tostring(try(healed.lines, 0)), try(healed.page, "")]
      escalate = escalation.one
    }
  }
}

workflow "mend" {
  input "problem" {
    type    = string
    default = ""
  }
  step "x" { run = ["mend"] }
  output "file" { value = step.x.output }
}

workflow "other" {
  input "n" {
    type    = number
    default = 0
  }
  step "count" { value = input.n }
  output "lines" { value = step.count.output }
}
