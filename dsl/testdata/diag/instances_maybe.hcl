workflow "w" {
  input "full" { default = false }
  step "checks" {
    when     = "input.full"
    for_each = ["a", "b"]
    run      = ["check", "--", each.value]
  }
  step "alarm" {
    when = "step.checks.instances[0].exit_code > 0"
    run  = ["alarm"]
  }
}
