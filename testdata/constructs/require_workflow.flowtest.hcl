test "What a workflow requires is asked before anything starts" {
  crash_everywhere = true
  expect = [
    "run.status == 'failed'",
    "node['work'].status == 'cancelled'",
  ]
}
