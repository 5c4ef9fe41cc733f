workflow "w" {
  parallel "fan" {
    for_each = ["x", "y"]
    step "two" { run = ["echo", each.value] }
  }
  output "o" { value = step.two.output }
}
