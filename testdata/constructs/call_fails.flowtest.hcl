test "A child that fails is a failed step, which says why" {
  crash_everywhere = true
  step "child/work" { replies = [{ exit_code = 1 }] }

  expect = [
    "run.status == 'succeeded'",
    "node['child'].status == 'failed'",
  ]
}
