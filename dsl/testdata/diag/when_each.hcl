# A condition that reads each leaves out instances, and never the node; one that does not leaves out the node.
workflow "w" {
  input "on" { type = bool }

  step "some" {
    for_each = [1, 2, 3]
    when     = "each.value > 1"
    value    = each.value
  }

  step "whole" {
    for_each = [1, 2, 3]
    when     = "input.on"
    value    = each.value
  }

  output "statuses" { value = [for i in step.some.instances : i.status] }
  output "sums" { value = [for v in step.some.output : v + 1] }
  output "whole_statuses" { value = [for i in step.whole.instances : i.status] }
  output "whole_sums" { value = [for v in coalesce(step.whole.output, []) : v + 1] }
}
