workflow "w" {
  step "b" {
    value = ["x"]
    when  = "1 == 1"
  }
  step "a" {
    for_each = step.b.output
    run      = ["true"]
  }
}
