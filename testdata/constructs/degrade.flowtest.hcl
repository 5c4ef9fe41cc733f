test "A lesser output stands in for one that failed" {
  crash_everywhere = true
  step "translate" { replies = [{ exit_code = 1 }] }

  expect = [
    "run.status == 'succeeded'",
    "node['translate'].status == 'failed'",
  ]
}
