workflow "w" {
  parallel "fan" {
    for_each = ["x", "y"]
    step "one" { run = ["echo", each.value] }
  }
  step "after" { run = ["echo", step.one.stdout] }
}
