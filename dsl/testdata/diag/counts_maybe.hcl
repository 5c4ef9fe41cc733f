workflow "w" {
  input "full" { default = false }
  step "checks" {
    when     = "input.full"
    for_each = ["a", "b"]
    run      = ["check", each.value]
  }
  step "alarm" {
    when = "step.checks.counts.failed > 0"
    run  = ["alarm"]
  }
}
