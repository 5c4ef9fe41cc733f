# A join may be a condition over what has ended.
# races
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "sample" {
  step "probe" {
    for_each = [1, 2, 60, 60]
    join     = "succeeded >= 2 && failed == 0"
    agent    = agent.worker
    with     = { takes = each.value }
  }

  output "counts" { value = step.probe.counts }
}
